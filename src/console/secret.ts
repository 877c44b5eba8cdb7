import { openDialog } from "./dialog.ts";
import { fill, h } from "./dom.ts";

let allKept: Promise<unknown> = Promise.resolve();

/** Done when no secret is shown: nothing that could hide one for good may come before. */
export function secretsKept(): Promise<unknown> {
  return allKept;
}

/** Shows a secret this once; it takes a word to close it. */
export function showSecret(title: string, secret: string, advice: string): void {
  const shown = h("textarea", { readonly: true, rows: 2, class: "secret", "aria-label": title }, secret);
  const copied = h("p", { class: "hint", role: "status" });
  const copy = async () => {
    shown.select();
    try {
      // A page that came over plain HTTP has no clipboard; the text is selected for the keyboard then.
      await navigator.clipboard.writeText(secret);
      fill(copied, "Copied.");
    } catch {
      fill(copied, "Selected: press Ctrl-C.");
    }
  };
  const { element, closed } = openDialog(
    title,
    (close) => [
      h("p", {}, `This is the only time that it is shown. ${advice}`),
      shown,
      copied,
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", onclick: copy }, "Copy"),
        h("button", { type: "button", class: "main", onclick: close }, "I have kept it"),
      ),
    ],
    { stays: true },
  );
  element.querySelector(".close")?.remove();
  stayOpen(element);
  shown.select();
  window.addEventListener("beforeunload", askToStay);
  allKept = Promise.all([allKept, closed]);
  void closed.then(() => window.removeEventListener("beforeunload", askToStay));
}

/** Nothing but its own button closes it. Whoever presses Escape twice closes a dialog that only refuses to be cancelled. */
function stayOpen(dialog: HTMLElement): void {
  dialog.setAttribute("closedby", "none");
  // Browsers that do not know that yet.
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("keydown", (event) => event.key === "Escape" && event.preventDefault());
}

/** The browser asks whoever closes or reloads the page. */
function askToStay(event: Event): void {
  event.preventDefault();
}

/** Says what to do about a secret that nobody will see; it stays until it is closed. */
export function showLoss(title: string, advice: string): void {
  openDialog(
    title,
    (close) => [
      h("p", {}, `It was lost on the way, and is shown to nobody again. ${advice}`),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "button", class: "main", autofocus: true, onclick: close }, "Close"),
      ),
    ],
    { stays: true },
  );
}
