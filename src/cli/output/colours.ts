/** The few styles of the reports. */
export interface Colours {
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly faint: (text: string) => string
  readonly strong: (text: string) => string
}

const style =
  (start: number, end: number) =>
  (text: string): string =>
    `\u001b[${start}m${text}\u001b[${end}m`
const plain = (text: string): string => text

/** Colours, or none. The numbers are those of ECMA-48 section 8.3.117. */
export function makeColours(enabled: boolean): Colours {
  if (!enabled) return { good: plain, bad: plain, faint: plain, strong: plain }
  return { good: style(32, 39), bad: style(31, 39), faint: style(2, 22), strong: style(1, 22) }
}
