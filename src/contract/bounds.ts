// Numbers that shapes and rules share. No shape is here: whoever needs only the numbers loads no validator.
/** Up to so many units stock can be listed lowest first; the store keeps no more in order. */
export const LOW_STOCK = 1000;
/** Records on a page, if nobody says how many. */
export const PAGE_DEFAULT = 20;
export const ROTATION_DAYS = 30;
/** Days that a rotated key still works, if nobody says how many: programs that have it must not stop by what was left out. */
export const ROTATION_DAYS_DEFAULT = 1;
export const KEYS_OF_A_CLIENT = 100;
export const WEBHOOKS_OF_A_CLIENT = 20;
/** Characters of a webhook's address. */
export const WEBHOOK_URL_CHARACTERS = 2000;
/** Characters of a receiver's answer that are kept. */
export const RESPONSE_CHARACTERS = 1000;
export const SECRET_OVERLAP_HOURS = 7 * 24;
