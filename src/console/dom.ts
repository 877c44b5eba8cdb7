/** What an element can hold. Text is always text: nothing here reads markup. */
export type Child = Node | string | number | false | null | undefined | readonly Child[];

type Value = string | number | boolean | undefined | ((event: never) => unknown);
/** Attributes by their names; `on...` are listeners, `undefined` and `false` are left out. */
export type Attributes = Readonly<Record<string, Value>>;

/** An HTML element. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Puts other content in the place of an element's own. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (child instanceof Node || typeof child === "string") return [child];
    return typeof child === "number" ? [String(child)] : nodesOf(child);
  });
}

/** Does something at the press of a button, once at a time: until it is done the button says so and does nothing. */
export async function once(button: HTMLElement, act: () => unknown): Promise<void> {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  try {
    await act();
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

let ids = 0;

/** An id that no other element has. */
export function newId(): string {
  ids += 1;
  return `id-${ids}`;
}
