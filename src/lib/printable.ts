/**
 * What would act on a terminal or a page instead of being shown: control characters but for line feed and tab, and the marks
 * that turn the direction of writing (Unicode UAX 9, 2.1 to 2.3). Comments, log lines and evidence come from others.
 */
const ACTS_ON_READER = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu

/** A text from elsewhere as a terminal or a page may be given it. */
export function printable(text: string): string {
  return text.replace(ACTS_ON_READER, '\ufffd')
}
