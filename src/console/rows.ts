import { type Child, h } from "./dom.ts";

export interface Column<T> {
  readonly name: string;
  readonly cell: (record: T) => Child;
  readonly kind?: "number" | "short" | "acts";
}

export interface RowsOptions<T> {
  /** What the list is of, for those who hear the page. */
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly keyOf: (record: T) => number | string;
}

/** A table with a row for each record. */
export interface Rows<T> {
  readonly element: HTMLTableElement;
  readonly count: number;
  /** Shows a record in the place that it has, or first or last if it is new. */
  put(record: T, place: "first" | "last"): void;
  drop(record: T): void;
  /** Goes on from a record's row, for those who go by keys. */
  reach(record: T | undefined): void;
  clear(): void;
}

export function rowsOf<T>({ label, columns, keyOf }: RowsOptions<T>): Rows<T> {
  const rows = new Map<string, HTMLTableRowElement>();
  const body = h("tbody");
  const head = columns.map(({ name, kind = "" }) => h("th", { scope: "col", class: kind }, name));
  const element = h(
    "table",
    { class: "list" },
    h("caption", { class: "heard" }, label),
    h("thead", {}, h("tr", {}, head)),
    body,
  );
  return {
    element,
    get count() {
      return rows.size;
    },
    put(record, place) {
      const key = String(keyOf(record));
      const row = rowOf(columns, record);
      const before = rows.get(key);
      if (before) before.replaceWith(row);
      else if (place === "first") body.prepend(row);
      else body.append(row);
      rows.set(key, row);
    },
    drop(record) {
      const key = String(keyOf(record));
      rows.get(key)?.remove();
      rows.delete(key);
    },
    reach(record) {
      const row = record !== undefined && rows.get(String(keyOf(record)));
      if (!row) return;
      row.tabIndex = -1;
      row.focus({ preventScroll: true });
    },
    clear() {
      rows.clear();
      body.replaceChildren();
    },
  };
}

/** The first cell names the record. */
function rowOf<T>(columns: readonly Column<T>[], record: T): HTMLTableRowElement {
  const cells = columns.map(({ name, cell, kind = "" }, at) =>
    at === 0
      ? h("th", { scope: "row" }, cell(record))
      : h("td", { class: kind, "data-label": name }, cell(record)),
  );
  return h("tr", {}, cells);
}
