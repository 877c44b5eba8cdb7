import base from "./style/base.css" with { type: "text" };
import code from "./style/code.css" with { type: "text" };
import content from "./style/content.css" with { type: "text" };
import frame from "./style/frame.css" with { type: "text" };
import tables from "./style/tables.css" with { type: "text" };

/** The one style of the page; what comes later wins over what comes before. */
export const style = [base, frame, content, tables, code].join("\n");
