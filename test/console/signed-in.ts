// How tests of the console come in: one browser for a file, and somebody who is signed in and looks at a page.
import type { BrowserContextOptions } from "playwright-core";
import type { Person, TestStore } from "../harness.ts";
import { aVisitor, theBrowser, type Visitor } from "./browser.ts";

export interface SignedIn extends Visitor {
  /** Presses a button by its name: the one that was drawn last, as a dialog is. */
  press(name: string): Promise<void>;
  /** Waits for what the page says. */
  reads(text: string | RegExp): Promise<void>;
}

type At = readonly [path: string, heading: string | RegExp];

/** Gives a window of its own to whoever comes. */
export function visitors(browser = theBrowser()) {
  return async (
    store: TestStore,
    person: Pick<Person, "key">,
    [path, heading]: At,
    options?: BrowserContextOptions,
  ): Promise<SignedIn> => {
    const visitor = await aVisitor(browser, store, options);
    const { page } = visitor;
    // As over plain HTTP from another machine.
    await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await visitor.enter(person);
    await visitor.open(path, heading);
    return {
      ...visitor,
      press: (name) => page.getByRole("button", { name, exact: true }).last().click(),
      reads: (text) => page.getByText(text).first().waitFor(),
    };
  };
}
