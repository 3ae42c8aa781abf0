import { asBuffer } from '../bytes.js'
import { decodeString } from '../json/scan/decode-string.js'
import { BACKSLASH, QUOTE } from '../json/scan/json-bytes.js'
import { scanString } from '../json/scan/scan-string.js'
import { labelRole } from './labelled-values.js'
import type { LabelRole } from './labelled-values.js'
import { isHeaderMember, isSecretHeader, isSecretName, isSecretTextName } from './secret-names.js'

/** What the name of a member says of its value. */
export interface MemberName {
  readonly name: string
  readonly isSecret: boolean
  /** Secret where the value is a text. */
  readonly isSecretText: boolean
  /** Secret where it is among headers. */
  readonly isSecretHeader: boolean
  /** Whether the value holds headers. */
  readonly isHeaders: boolean
  readonly role: LabelRole | undefined
}

interface KnownName extends MemberName {
  /** As it is between the quotes. */
  readonly written: Uint8Array
}

/** Documents of one kind have some hundred names, each of them many times. */
const KNOWN_NAMES = 1024
const MAX_KNOWN_LENGTH = 64

/** Reads names of members, and remembers what it made of those that it read last. */
export class MemberNames {
  readonly #known: (KnownName | undefined)[] = new Array<undefined>(KNOWN_NAMES).fill(undefined)

  /** The name whose literal begins at `open`; raises the errors of `scanString`. */
  read(json: Uint8Array, open: number): MemberName {
    let hash = 0
    let end = open + 1
    for (let byte = json[end] ?? QUOTE; byte !== QUOTE; byte = json[++end] ?? QUOTE) {
      if (byte === BACKSLASH) return describeName(json, open)
      hash = (Math.imul(hash, 31) + byte) | 0
    }
    const place = (hash ^ (hash >>> 15)) & (KNOWN_NAMES - 1)
    const known = this.#known[place]
    if (known !== undefined && isWritten(known.written, json, open + 1, end)) return known
    const described = describeName(json, open)
    if (end - open > MAX_KNOWN_LENGTH) return described
    // A copy: the `slice` of a Buffer would keep all of the text, and change with its memory.
    const added = { ...described, written: new Uint8Array(json.subarray(open + 1, end)) }
    this.#known[place] = added
    return added
  }
}

function isWritten(written: Uint8Array, json: Uint8Array, start: number, end: number): boolean {
  if (written.length !== end - start) return false
  for (let i = 0; i < written.length; i++) if (written[i] !== json[start + i]) return false
  return true
}

function describeName(json: Uint8Array, open: number): MemberName {
  const name = asBuffer(decodeString(json, open, scanString(json, open))).toString()
  return {
    name,
    isSecret: isSecretName(name),
    isSecretText: isSecretTextName(name),
    isSecretHeader: isSecretHeader(name),
    isHeaders: isHeaderMember(name),
    role: labelRole(name),
  }
}
