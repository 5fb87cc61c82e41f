// What users do. Each step says what it has seen; the test in Python judges it.
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Workbench } from "./driver.mjs";

/** What the status bar says once nothing blocks. */
const MENDED = /unverified|^(?!.*\bnot\b).*launch-ready/;

/** From an open config to its report, in a workspace that is trusted. */
export async function work(plan, step) {
  const { project, pictures } = plan;
  const config = `${project}/conf/salm.yaml`;
  const onDisk = (path = config) => readFileSync(path, "utf8");
  const original = onDisk();
  const bench = await Workbench.open(plan.browser, plan);
  const { page } = bench;

  await step("squiggle", async () => {
    await bench.openFile("salm.yaml");
    await page.locator(".squiggly-error").first().waitFor();
    return { errors: await page.locator(".squiggly-error").count(), status: await bench.waitForStatus(/launch-ready/) };
  });

  await step("problems", async () => {
    const problem = await bench.waitForProblem(/shard_seed.*randomized/);
    const rows = await bench.problems();
    await page.locator(".markers-panel .monaco-list-row").nth(3).hover(); // rows that are not seen are not there
    rows.push(
      ...(await bench.until("the findings in the blend", async () => {
        await page.mouse.wheel(0, 300);
        const seen = await bench.problems();
        return seen.some((row) => row.includes("NR336")) ? seen : { no: seen };
      })),
    );
    for (let turn = 0; turn < 10; turn++) await page.mouse.wheel(0, -300);
    await bench.focusEditor();
    return { problem, rows };
  });

  await step("hover", async () => {
    await bench.goToText(original, '"randomized"');
    const token = page.locator(".view-line span span", { hasText: /^"randomized"$/ }).first();
    await token.hover();
    const text = await bench.until("a hover", async () => {
      const texts = await page.locator(".monaco-hover:visible").allInnerTexts();
      return texts.find((each) => each.includes("NR110")) ?? { no: texts };
    });
    await sleep(500);
    await bench.picture("hover");
    await page.mouse.move(900, 480);
    return { text };
  });

  await step("picture of the findings", async () => {
    await page.mouse.move(900, 480);
    await bench.goToText(original, "shard_seed");
    await bench.problems();
    await bench.focusEditor();
    await sleep(800);
    await bench.picture("findings");
    await page.screenshot({ path: `${pictures}/findings.png` });
  });

  await step("quick fix through the light bulb", async () => {
    await bench.goToText(original, '"randomized"');
    const bulb = page.locator('.editor-group-container.active [class*="codicon-light"]:visible').first();
    const menu = page.locator(".action-widget:visible");
    const wanted = menu.locator(".monaco-list-row", { hasText: "Set `shard_seed` to 42" }).first();
    await bench.until("the menu of the light bulb", async () => {
      await bench.keys("Escape"); // a bulb that was drawn for where the cursor was before has another menu
      await bulb.click({ timeout: 5000 });
      await wanted.waitFor({ timeout: 3000 });
      return true;
    });
    const offered = await menu.locator(".monaco-list-row").allInnerTexts();
    await bench.picture("light-bulb");
    const box = await wanted.boundingBox();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x - 20, y); // the menu takes no click before the mouse has moved
    await page.mouse.move(x, y);
    await page.mouse.click(x, y);
    await bench.until("the value is changed", async () => (await page.locator(".view-line", { hasText: "shard_seed: 42" }).count()) > 0);
    await bench.save();
    return { offered, text: onDisk() };
  });

  await step("fix all", async () => {
    await bench.command("NeMo Resumable: Fix Everything in This File That Is Safe to Fix");
    await bench.until("the file is changed", async () => (await page.locator(".tabs-container .tab.active.dirty").count()) > 0);
    await bench.save();
    const fixed = onDisk();
    return { fixed, status: await bench.waitForStatus(MENDED) };
  });

  await step("undo brings back what was there", async () => {
    await bench.focusEditor();
    await bench.keys("Control+Z", "Control+Z");
    await bench.save();
    return { text: onDisk(), status: await bench.waitForStatus(/not launch-ready/) };
  });

  await step("artifacts and their preview", async () => {
    await bench.openFile("salm.yaml");
    await bench.focusEditor();
    await bench.keys("Control+J"); // the panel takes room
    await bench.keys("Control+B"); // so does the side bar
    await bench.command("NeMo Resumable: Write Migration Artifacts and Open the Report");
    const text = await bench.waitForPreview(/Migration of/);
    await page.mouse.move(300, 650);
    await sleep(2000);
    await bench.picture("report");
    await page.screenshot({ path: `${pictures}/report.png` });
    await bench.keys("Control+B");
    await bench.command("View: Close All Editors");
    await bench.openFile("salm.yaml");
    return { text };
  });

  await step("migrate", async () => {
    await bench.command("NeMo Resumable: Migrate This Config");
    const message = await bench.waitForNotification(/migrated/);
    await page.locator(".notification-toast .monaco-button", { hasText: "Save All" }).click();
    await bench.until("the file is saved", async () => onDisk() !== original);
    return { message, text: onDisk(), status: await bench.waitForStatus(MENDED) };
  });

  await step("a blend that is edited changes its config", async () => {
    const before = await bench.status();
    await bench.openFile("train.yaml");
    const blend = onDisk(`${project}/blends/train.yaml`);
    await bench.goToText(blend, "weight: 2400");
    await page.keyboard.insertText("extra_fields: [{type: text_iter, name: context, path: /data/questions.txt}]\n");
    const inBlend = await bench.waitForProblem(/NR301/);
    await bench.focusEditor();
    await bench.openFile("salm.yaml"); // the blend is not saved
    const after = await bench.waitForStatus(/not launch-ready/);
    await bench.openFile("train.yaml");
    await bench.command("File: Revert File");
    await bench.openFile("salm.yaml");
    return { before, inBlend, after, again: await bench.waitForStatus(MENDED) };
  });

  await step("broken in the middle of an edit", async () => {
    await bench.command("File: Revert File");
    const text = onDisk();
    await bench.goToText(text, "    sample_rate");
    await page.keyboard.insertText("    num_workers: [1, 2\n");
    const broken = await bench.waitForProblem(/NR001/);
    const rows = await bench.problems();
    await bench.picture("broken");
    await bench.focusEditor();
    await bench.command("File: Revert File");
    await bench.until("it is whole again", async () => {
      const now = await bench.problems();
      return !now.some((row) => row.includes("NR001")) || { no: now };
    });
    await bench.focusEditor();
    return { broken, rows };
  });

  await step("explain", async () => {
    await bench.openFile("salm.yaml");
    await bench.command("NeMo Resumable: Explain Rule…");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "Another rule" }).click();
    await page.locator(".quick-input-widget input:visible").first().fill("NR110");
    await bench.keys("Enter");
    const text = await bench.waitForPreview(/unfixed-shard-seed/);
    await bench.picture("explain");
    await bench.command("View: Close All Editors");
    return { text };
  });

  await step("effective config", async () => {
    await bench.openFile("salm.yaml");
    await bench.command("NeMo Resumable: Show Effective Config of a Dataset");
    const text = await bench.until("the text", async () => {
      const lines = await page.locator(".view-line", { hasText: /sample_rate:\s16000\s+#/ }).allInnerTexts();
      return lines[0] ?? { no: lines };
    });
    await bench.picture("effective");
    await bench.command("View: Close All Editors");
    return { text };
  });

  await bench.close();
}

/** What the extension costs a window in which there is nothing for it: three times, for a machine that is busy. */
export async function idle(plan, step) {
  const bench = await Workbench.open(plan.browser, plan);
  await step("activation", async () => {
    const texts = [];
    for (let turn = 0; turn < 3; turn++) {
      if (turn) await bench.reload();
      await bench.openFile("deploy.yaml");
      await bench.command("Developer: Show Running Extensions");
      const text = await bench.until("our row", async () => {
        const rows = await bench.page.locator(".runtime-extensions-editor .monaco-list-row").allInnerTexts();
        return rows.find((row) => row.includes("NeMo Resumable") && /Activation/.test(row)) ?? { no: rows };
      });
      texts.push(text);
      await bench.picture("running-extensions");
    }
    return { texts };
  });
  await step("no server", async () => {
    await bench.openFile("deploy.yaml");
    return { status: await bench.status() };
  });
  await bench.close();
}

/** A workspace that is not trusted, and then is. */
export async function trust(plan, step) {
  const bench = await Workbench.open(plan.browser, plan, /^No/);
  const { page } = bench;
  await step("restricted", async () => {
    await bench.openFile("salm.yaml");
    const message = await bench.waitForNotification(/not trusted|not installed/);
    await bench.picture("restricted");
    return { message, was_run: existsSync(`${plan.project}/was-run`) };
  });
  await step("trusted", async () => {
    await page.locator(".notification-toast .monaco-button", { hasText: "Manage Workspace Trust" }).click();
    await page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust$/ }).first().click();
    await bench.openFile("salm.yaml");
    const status = await bench.waitForStatus(/launch-ready/);
    await bench.picture("trusted");
    return { status };
  });
  await bench.close();
}

/** No server anywhere: what the user is told, and what helps. */
export async function missing(plan, step) {
  const bench = await Workbench.open(plan.browser, plan);
  await step("told", async () => {
    await bench.openFile("salm.yaml");
    const message = await bench.waitForNotification(/nemo-resumable/);
    await bench.picture("missing");
    return { message, status: await bench.status() };
  });
  await step("helped", async () => {
    await bench.page.locator(".notification-toast .monaco-button", { hasText: "How to Install" }).click();
    await bench.page.locator(".gettingStartedContainer", { hasText: "Install the server" }).first().waitFor();
    await sleep(800);
    await bench.picture("walkthrough");
  });
  await bench.close();
}
