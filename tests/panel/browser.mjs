// A browser for tests: node browser.mjs PLAYWRIGHT AXE EXECUTABLE
// One JSON command a line on stdin, one JSON answer a line on stdout. There is one page at a time, and what its console
// says is kept.
import fs from "node:fs";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [playwright, axe, executablePath] = process.argv.slice(2);
const { chromium } = (await import(pathToFileURL(playwright))).default;
const args = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  ...["--disable-component-update", "--disable-sync", "--enable-precise-memory-info"],
];
const browser = await chromium.launch({ executablePath, args });
const PATIENCE_MS = 15_000;
let context;
let page;
let said = [];

const commands = {
  async open({ url, width = 1280, height = 800, dark = false }) {
    await context?.close();
    said = [];
    const scheme = dark ? "dark" : "light";
    context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce", acceptDownloads: true });
    context.setDefaultTimeout(PATIENCE_MS);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    page = await context.newPage();
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && said.push(message.text()));
    page.on("pageerror", (error) => said.push(String(error)));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => console.error(`CSP: ${event.violatedDirective}`));
    });
    await page.addInitScript(seen);
    await page.goto(url);
  },
  goto: ({ url }) => page.goto(url).then(() => undefined),
  reload: () => page.reload().then(() => undefined),
  url: () => page.url(),
  said: () => said,
  size: ({ width, height }) => page.setViewportSize({ width, height }),
  scheme: ({ dark }) => page.emulateMedia({ colorScheme: dark ? "dark" : "light" }),
  press: ({ key }) => page.keyboard.press(key),
  type: ({ text }) => page.keyboard.type(text),
  click: ({ selector }) => page.locator(selector).first().click(),
  fill: ({ selector, text }) => page.locator(selector).first().fill(text),
  choose: ({ selector, value }) => page.locator(selector).first().selectOption(value).then(() => undefined),
  wait: ({ selector, state = "visible" }) => page.locator(selector).first().waitFor({ state }),
  // Asked from out here: within the page, its policy lets nobody evaluate anything.
  async until({ code }) {
    for (let left = PATIENCE_MS / 10; !(await page.evaluate(code)); left -= 1) {
      if (left < 0) throw new Error(`it never came to ${code}`);
      await page.waitForTimeout(10);
    }
  },
  evaluate: ({ code }) => page.evaluate(code),
  text: ({ selector }) => page.locator(selector).first().innerText(),
  texts: ({ selector }) => page.locator(selector).allInnerTexts(),
  count: ({ selector }) => page.locator(selector).count(),
  screenshot: ({ path }) => page.screenshot({ path }).then(() => undefined),
  async download({ selector }) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(selector).first().click()]);
    return { name: file.suggestedFilename(), text: fs.readFileSync(await file.path(), "utf8") };
  },
  // What axe-core has against the page: the rule, and which elements.
  async axe() {
    const session = await context.newCDPSession(page);
    const { executionContextId } = await world(session);
    const source = fs.readFileSync(axe, "utf8");
    await session.send("Runtime.evaluate", { contextId: executionContextId, expression: `${source};0` });
    const { result } = await session.send("Runtime.evaluate", {
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
      expression:
        "axe.run(document).then(({violations}) => violations.map(({id, nodes}) => `${id}: ${nodes.map(n => n.target + ' ' + n.html.slice(0, 120) + ' ' + n.failureSummary).slice(0, 3).join(' | ')}`))",
    });
    await session.detach();
    return result.value;
  },
  // Bytes of the page's heap after a collection, and those that its process has for itself.
  async memory() {
    const session = await context.newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    await session.send("Performance.enable");
    const { metrics } = await session.send("Performance.getMetrics");
    await session.detach();
    const heap = metrics.find(({ name }) => name === "JSHeapUsedSize").value;
    const { processInfo } = await (await browser.newBrowserCDPSession()).send("SystemInfo.getProcessInfo");
    const own = (id) => {
      const rollup = fs.readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
      return 1024 * [...rollup.matchAll(/^Private_\w+:\s+(\d+)/gm)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0);
    };
    return { heap, process: Math.max(...processInfo.filter(({ type }) => type === "renderer").map(({ id }) => own(id))) };
  },
};

// A world of its own, in which the page's policy for scripts doesn't hold.
async function world(session) {
  const { frameTree } = await session.send("Page.getFrameTree");
  return session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
}

// When each row of the tree was first in the document and painted, by its text, in milliseconds since 1970.
function seen() {
  window.seen = {};
  const look = () => {
    for (const row of document.querySelectorAll(".row .text")) {
      const text = row.textContent;
      if (text in window.seen) continue;
      window.seen[text] = null;
      requestAnimationFrame(() => setTimeout(() => (window.seen[text] = performance.timeOrigin + performance.now())));
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true });
}

for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { op, ...given } = JSON.parse(line);
  let answer;
  try {
    answer = { result: (await commands[op](given)) ?? null };
  } catch (error) {
    answer = { error: String(error.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
