// Runs the scenarios named on the command line's plan, one after the other, and writes what became of each as a line of JSON.
import { readFileSync } from "node:fs";
import { launch } from "./driver.mjs";
import * as scenarios from "./scenarios.mjs";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await launch(plan.modules, plan.chromium);
try {
  await scenarios[plan.scenario]({ ...plan, browser }, async (name, run) => {
    const started = Date.now();
    try {
      const seen = (await run()) ?? {};
      console.log(JSON.stringify({ name, ok: true, seen, seconds: (Date.now() - started) / 1000 }));
    } catch (error) {
      for (const page of browser.contexts().flatMap((context) => context.pages())) {
        await page.screenshot({ path: `${plan.output}/failed.png` }).catch(() => undefined);
      }
      console.log(JSON.stringify({ name, ok: false, error: String(error?.stack ?? error) }));
      throw error;
    }
  });
} finally {
  await browser.close();
}
