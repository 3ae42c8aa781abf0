/** One element of DER (ITU-T X.690). */
export interface DerElement {
  /** The identifier byte: class, constructed bit and number. */
  readonly tag: number
  /** The whole element, header included. */
  readonly raw: Buffer
  readonly content: Buffer
}

/** Identifier bytes of the universal class (X.680, 8.4). */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  bmpString: 0x1e,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** The element at a place of `bytes`; undefined where none is there in whole. */
export function derElementAt(bytes: Buffer, at: number): DerElement | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  // Tag numbers past 30 take several bytes; X.509 has none.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) return undefined
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
  // DER takes the shortest form alone, and so does Go.
  if (lengthBytes > 0 && (length < 0x80 || bytes[at + 2] === 0)) return undefined
  const start = at + 2 + lengthBytes
  if (start + length > bytes.length) return undefined
  return { tag, raw: bytes.subarray(at, start + length), content: bytes.subarray(start, start + length) }
}

/** The elements that stand one behind the other in `bytes`; undefined where one of them is broken. */
export function derElementsIn(bytes: Buffer): DerElement[] | undefined {
  const elements: DerElement[] = []
  for (let at = 0; at < bytes.length;) {
    const element = derElementAt(bytes, at)
    if (element === undefined) return undefined
    elements.push(element)
    at += element.raw.length
  }
  return elements
}

/**
 * A UTCTime or GeneralizedTime in seconds, as RFC 3339 in UTC; undefined for anything else. RFC 5280, 4.1.2.5 puts two-digit years
 * into 1950 to 2049.
 */
export function derTime({ tag, content }: DerElement): string | undefined {
  const text = content.toString('latin1')
  if (tag !== TAG.utcTime && tag !== TAG.generalizedTime) return undefined
  const century = tag !== TAG.utcTime ? '' : Number(text.slice(0, 2)) >= 50 ? '19' : '20'
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + text)
  if (parts === null) return undefined
  const [, year, month, day, hour, minute, second] = parts
  const moment = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  return isMoment(moment) ? `${moment}Z` : undefined
}

/** Whether there is such a day and such a time of it. */
function isMoment(text: string): boolean {
  const date = new Date(`${text}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
