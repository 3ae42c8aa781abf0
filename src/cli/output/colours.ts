import { styleText } from 'node:util'

/** Styles of reports. */
export interface Colours {
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
  readonly warning: (text: string) => string
  readonly faint: (text: string) => string
  readonly strong: (text: string) => string
}

type Format = 'green' | 'red' | 'yellow' | 'dim' | 'bold'

/** Returns the styles, or plain text if they are disabled. */
export function makeColours(enabled: boolean): Colours {
  const style =
    (format: Format) =>
    (text: string): string =>
      enabled ? styleText(format, text, { validateStream: false }) : text
  return {
    ...{ good: style('green'), bad: style('red'), warning: style('yellow') },
    ...{ faint: style('dim'), strong: style('bold') },
  }
}
