// A browser at the other end of a pipe: one JSON object a line, {do, ...}, one answer a line, {value} or {error}.
// Arguments: the directory of playwright-core, the browser's program.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [playwright, program] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const args = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const browser = await chromium.launch({ executablePath: program, headless: true, args });
const page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
page.setDefaultTimeout(20_000);

/** `inside`: in the webview that is shown. */
function find({ selector, inside }) {
  const place = inside ? page.frameLocator("iframe.webview").frameLocator("#active-frame") : page;
  return place.locator(selector);
}

const steps = {
  open: ({ url }) => page.goto(url).then(() => null),
  wait: ({ state, ...where }) => find(where).first().waitFor({ state: state ?? "visible" }).then(() => null),
  click: ({ button, ...where }) => find(where).first().click({ button: button ?? "left" }).then(() => null),
  hover: (where) => find(where).first().hover().then(() => null),
  press: ({ key }) => page.keyboard.press(key).then(() => null),
  type: ({ text }) => page.keyboard.type(text).then(() => null),
  texts: (where) => find(where).allInnerTexts(),
  attributes: ({ name, ...where }) =>
    find(where).evaluateAll((found, attribute) => found.map((one) => one.getAttribute(attribute)), name),
  focused: () => page.evaluate(() => document.activeElement?.className ?? ""),
  screenshot: ({ path }) => page.screenshot({ path }).then(() => null),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { do: step, ...given } = JSON.parse(line);
  let answer;
  try {
    answer = { value: await steps[step](given) };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
