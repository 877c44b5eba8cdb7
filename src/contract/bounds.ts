// Numbers that shapes and rules share. No shape is here: whoever needs only the numbers loads no validator.
export const ROTATION_DAYS = 30;
export const KEYS_OF_A_CLIENT = 100;
