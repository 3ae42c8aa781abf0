import { AppError } from '../errors.js'

/** How files that are no UTF-8 text begin (RFC 1952, RFC 8878, Unicode's byte order marks), and what makes them one. */
const BEGINNINGS: readonly { readonly bytes: readonly number[]; readonly says: string }[] = [
  { bytes: [0x1f, 0x8b], says: 'is compressed: unpack it with gunzip' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], says: 'is compressed: unpack it with unzstd' },
  { bytes: [0xff, 0xfe], says: 'is UTF-16: turn it into UTF-8 with iconv -f UTF-16 -t UTF-8' },
  { bytes: [0xfe, 0xff], says: 'is UTF-16: turn it into UTF-8 with iconv -f UTF-16 -t UTF-8' },
]

/** Raises `invalid` saying what to do where what a file begins with shows that it is compressed or UTF-16. */
export function refuseOtherThanText(start: Uint8Array, name: string): void {
  const known = BEGINNINGS.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte))
  if (known !== undefined) throw new AppError('invalid', `${name} ${known.says}`)
}
