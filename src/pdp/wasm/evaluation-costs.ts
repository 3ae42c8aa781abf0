/** What reading a byte of input takes at least, in milliseconds, and a byte of a result. */
export const READ_MS_PER_BYTE = 3e-6
export const SHOW_MS_PER_BYTE = 1e-4
/** Shorter ones are not worth a look at the clock. */
export const SHORT_INPUT_BYTES = 262_144
export const SHORT_RESULT_BYTES = 16_384

/** What a byte of a result costs, which is read, put in order and printed in the end. */
export const RESULT_STEPS_PER_BYTE = 4
export const RESULT_HEAP_PER_BYTE = 10
