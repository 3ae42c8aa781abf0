/** A value that is JSON text already and goes into a larger document as it is, so that its numbers keep all their digits. */
export class JsonText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** What everything else that writes JSON makes of it. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** `JSON.stringify` for documents that may hold `JsonText` at any depth. */
export function printWithJsonText(value: unknown): string {
  if (value instanceof JsonText) return value.text
  if (Array.isArray(value)) {
    return `[${value.map((entry: unknown) => printWithJsonText(entry ?? null)).join(',')}]`
  }
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${printWithJsonText(member)}`).join(',')}}`
}
