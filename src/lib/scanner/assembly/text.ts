/** This many bytes of text are looked at in one call. */
export const TEXT_BYTES: usize = 0x10000
/** Behind a text are zeros, so that blocks may be read to their end. */
export const PADDING: usize = 16

/** Where the text to be looked at is put; the padding before it may be read too. */
export const text: usize = memory.data(0x10020, 16) + PADDING
