/** What OPA 1.x takes for a 64-bit integer: digits, also with zeros behind a point, and 19 signs in all behind one for minus. */
const INTEGER = /^-?(?=[\d.]{1,19}$)(\d+)(?:\.0*)?$/

/** The 64-bit integer that the text of a number is for OPA (util.Atoi64); undefined for any other number. */
export function goInteger(text: string): bigint | undefined {
  const digits = INTEGER.exec(text)?.[1]
  if (digits === undefined) return undefined
  const integer = text.startsWith('-') ? -BigInt(digits) : BigInt(digits)
  return BigInt.asIntN(64, integer) === integer ? integer : undefined
}
