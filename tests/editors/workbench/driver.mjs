// Drives the workbench in a browser as a user does: with keys, the mouse, and what can be read on the screen.
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

const SECONDS = 1000;
export const PATIENCE = 60 * SECONDS; // for anything that appears; machines are busy

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launch(modules, executablePath) {
  const { chromium } = createRequire(`${modules}/`)("playwright-core");
  return chromium.launch({ executablePath, args: FLAGS });
}

export class Workbench {
  constructor(page, output) {
    this.page = page;
    this.output = output;
  }

  /** A window on a folder, as soon as it can be used; whether the folder is trusted is answered when it is asked. */
  static async open(browser, { url, project, output }, answer = /^Yes/) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 1 });
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE);
    await page.goto(`${url}/?folder=${project}`);
    await page.waitForSelector(".monaco-workbench .part.statusbar");
    await page.waitForSelector(".explorer-folders-view .monaco-list-row");
    await page.locator(".monaco-dialog-box .monaco-button", { hasText: answer }).click();
    await page.locator(".monaco-dialog-modal-block").waitFor({ state: "detached" });
    return new Workbench(page, output);
  }

  /** The window once more, with an extension host of its own. */
  async reload() {
    await this.page.reload();
    await this.page.waitForSelector(".explorer-folders-view .monaco-list-row");
  }

  /** Wait until something is the case; its value. What was seen last is told where it does not come to be. */
  async until(what, look, patience = PATIENCE) {
    const deadline = Date.now() + patience;
    for (;;) {
      const seen = await look().catch((error) => ({ error }));
      if (seen && !seen.error && !(seen.no !== undefined)) return seen;
      if (Date.now() > deadline) {
        await this.picture(`failed-${what.replace(/\W+/g, "-").slice(0, 60)}`);
        throw new Error(`${what}: did not come; last seen: ${JSON.stringify(seen?.no ?? String(seen?.error ?? seen))?.slice(0, 1500)}`);
      }
      await sleep(100);
    }
  }

  async picture(name) {
    await this.page.screenshot({ path: `${this.output}/${name}.png` });
  }

  async keys(...strokes) {
    for (const stroke of strokes) await this.page.keyboard.press(stroke);
  }

  async type(text) {
    await this.page.keyboard.type(text, { delay: 15 });
  }

  /** Type into the palette that a key opens and take a row. A window that is still being set up may close it: once more. */
  async pick(key, text, row) {
    const input = this.page.locator(".quick-input-widget:visible input:visible").first();
    const wanted = this.page.locator(".quick-input-list:visible .monaco-list-row", { hasText: row }).first();
    await this.until(
      `the palette offers ${row}`,
      async () => {
        await this.keys("Escape", key);
        await input.fill(text, { timeout: 3 * SECONDS });
        await wanted.waitFor({ timeout: 5 * SECONDS });
        await sleep(200);
        await wanted.click({ timeout: 3 * SECONDS });
        return true;
      },
    );
  }

  /** Run a command of the palette by its full title. */
  async command(title) {
    await this.pick("F1", `>${title}`, title);
  }

  async openFile(name) {
    const last = name.split("/").pop();
    await this.pick("Control+P", name, last);
    await this.page.locator(`.tabs-container .tab.active[data-resource-name="${last}"]`).first().waitFor();
    await this.page.locator(".editor-group-container.active .view-lines").first().waitFor();
  }

  async goTo(line, column = 1) {
    await this.keys("Control+G");
    await this.page.locator(".quick-input-widget:visible input:visible").first().fill(`:${line}:${column}`);
    await this.keys("Enter");
    await sleep(200);
  }

  /** Put the cursor before a text of the file on disk. */
  async goToText(text, wanted) {
    const before = text.slice(0, text.indexOf(wanted));
    await this.goTo(before.split("\n").length, before.length - before.lastIndexOf("\n"));
  }

  async save() {
    await this.keys("Control+S");
    await this.until("the file is saved", async () => (await this.page.locator(".tabs-container .tab.active.dirty").count()) === 0);
  }

  /** The item of ours in the status bar. */
  async status() {
    const item = this.page.locator('.statusbar-item[id*="nemo-resumable.status"]');
    return (await item.count()) ? (await item.first().innerText()).trim() : "";
  }

  async waitForStatus(pattern) {
    return this.until(`the status bar says ${pattern}`, async () => {
      const text = await this.status();
      return pattern.test(text) ? text : { no: text };
    });
  }

  /** The rows of the Problems panel, which is opened where it is not. */
  async problems() {
    if (!(await this.page.locator(".markers-panel:visible").count())) {
      await this.keys("Control+Shift+M");
      await this.page.locator(".markers-panel").waitFor();
    }
    return this.page.locator(".markers-panel .monaco-list-row:visible").allInnerTexts();
  }

  async waitForProblem(pattern) {
    return this.until(`a problem ${pattern}`, async () => {
      const rows = await this.problems();
      return rows.find((row) => pattern.test(row)) ?? { no: rows };
    });
  }

  /** The editor has the keys again. */
  async focusEditor() {
    await this.keys("Control+1");
    await sleep(150);
  }

  /** The text of a notification that matches. */
  async waitForNotification(pattern) {
    return this.until(`a message ${pattern}`, async () => {
      const texts = await this.page.locator(".notification-toast:visible").allInnerTexts();
      return texts.find((text) => pattern.test(text)) ?? { no: texts };
    });
  }

  /** The text of whatever webview (a preview) holds a pattern. */
  async waitForPreview(pattern) {
    return this.until(`a preview ${pattern}`, async () => {
      const texts = [];
      for (const frame of this.page.frames()) {
        if (frame === this.page.mainFrame()) continue;
        const text = await frame.locator("body").innerText({ timeout: 1000 }).catch(() => "");
        if (pattern.test(text)) return text;
        texts.push(text.slice(0, 100));
      }
      return { no: texts };
    });
  }

  async close() {
    await this.page.context().close();
  }
}
