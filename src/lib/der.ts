/** One element of DER (ITU-T X.690). */
export interface DerElement {
  /** Identifier byte: class, constructed bit and tag number. */
  readonly tag: number
  /** The whole element including its header. */
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

/** Reads the element at an offset of `bytes`. Undefined if no complete element is there. */
export function derElementAt(bytes: Buffer, at: number): DerElement | undefined {
  const tag = bytes[at]
  const first = bytes[at + 1]
  // Tag numbers above 30 take several bytes. X.509 has none.
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f
  if (first === 0x80 || lengthBytes > 4 || at + 2 + lengthBytes > bytes.length) return undefined
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes)
  // DER requires the shortest form, and Go enforces it.
  if (lengthBytes > 0 && (length < 0x80 || bytes[at + 2] === 0)) return undefined
  const start = at + 2 + lengthBytes
  if (start + length > bytes.length) return undefined
  return { tag, raw: bytes.subarray(at, start + length), content: bytes.subarray(start, start + length) }
}

/** Reads consecutive elements. Undefined if one is malformed. */
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
 * Converts a UTCTime or GeneralizedTime with seconds to RFC 3339 in UTC. Undefined for anything
 * else. Two-digit years are in 1950 to 2049 (RFC 5280, 4.1.2.5).
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

/** Whether the date and time exist. */
function isMoment(text: string): boolean {
  const date = new Date(`${text}Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}
