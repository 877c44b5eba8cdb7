import { signInWithKey } from "./api.ts";
import { type Dialog, openDialog } from "./dialog.ts";
import { fill, h } from "./dom.ts";
import { Misentered, textField } from "./fields.ts";
import { form } from "./form.ts";
import { brand } from "./frame.ts";
import { noticePlaces } from "./notices.ts";
import { secretsKept } from "./secret.ts";

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

/** Somebody is asked to sign in again. */
interface Asked {
  dialog?: Dialog;
}

let again: Asked | undefined;

/**
 * Over the page, for somebody whose session ended: what was entered there stays. It is open until whoever signed in is known. A secret
 * that is shown is read before: it may be the key to sign in with.
 */
export async function signInAgain(signedIn: () => void): Promise<void> {
  if (again !== undefined) return;
  const asked: Asked = {};
  again = asked;
  await secretsKept();
  if (again !== asked) return;
  asked.dialog = openDialog(
    "You are signed out",
    () => [
      h("p", {}, "The session is over. Sign in again to go on; what you entered on the page is still there."),
      keyForm(signedIn),
    ],
    { stays: true },
  );
  await asked.dialog.closed;
  if (again === asked) again = undefined;
}

/** Closes that again, in this tab or another; whether it was asked for. */
export function signedInAgain(): boolean {
  const asked = again;
  again = undefined;
  asked?.dialog?.close();
  return asked !== undefined;
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
