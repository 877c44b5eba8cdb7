import { signInWithKey } from "./api.ts";
import { type Dialog, openDialog } from "./dialog.ts";
import { fill, h } from "./dom.ts";
import { form, Misentered, textField } from "./form.ts";
import { brand } from "./frame.ts";
import { noticePlaces } from "./notices.ts";

/** The whole screen, for somebody who is not signed in. */
export function signInScreen(trouble: string | undefined, signedIn: () => void): void {
  fill(
    document.body,
    h(
      "main",
      { class: "sign-in", id: "main" },
      brand(),
      h("h1", { tabindex: "-1" }, "Sign in"),
      trouble !== undefined && h("p", { class: "error summary", role: "alert" }, trouble),
      keyForm(signedIn),
      h(
        "p",
        { class: "hint" },
        "The key is sent once and not kept in this browser. What you can see and do is what the key can. ",
        "No key yet? The operator makes one: ",
        h("code", {}, "./petstore keys create --role staff --client …"),
      ),
    ),
    noticePlaces(),
  );
  document.querySelector<HTMLElement>("main input")?.focus();
}

let again: Dialog | undefined;

/** Over the page, for somebody whose session ended: what was entered there stays. It is open until whoever signed in is known. */
export function signInAgain(signedIn: () => void): void {
  if (again !== undefined) return;
  const opened = openDialog(
    "You are signed out",
    () => [
      h("p", {}, "The session is over. Sign in again to go on; what you entered on the page is still there."),
      keyForm(signedIn),
    ],
    { stays: true },
  );
  again = opened;
  opened.closed.then(() => {
    if (again === opened) again = undefined;
  });
}

/** Closes that again, in this tab or another; whether it was open. */
export function signedInAgain(): boolean {
  const wasOpen = again !== undefined;
  again?.close();
  again = undefined;
  return wasOpen;
}

function keyForm(signedIn: () => void): HTMLFormElement {
  const key = textField("key", {
    label: "API key",
    required: true,
    // A browser offers to keep what is entered here as a password; it is one.
    attributes: { type: "password", autocomplete: "current-password", spellcheck: "false" },
  });
  return form({
    fields: [key],
    verb: "Sign in",
    send: async ({ key: entered }) => {
      const refused = await signInWithKey(String(entered).trim());
      if (refused !== undefined) throw new Misentered("key", refused);
      signedIn();
    },
  });
}
