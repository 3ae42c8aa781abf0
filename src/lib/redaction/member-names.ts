import { asBuffer } from '../bytes.js'
import { decodeString } from '../json/scan/decode-string.js'
import { BACKSLASH, QUOTE } from '../json/scan/json-bytes.js'
import type { Extent } from '../json/scan/json-bytes.js'
import { scanString } from '../json/scan/scan-string.js'
import {
  isHeaderMember,
  isSecretHeader,
  isSecretName,
  isSecretTextName,
  isSecretUnder,
} from './secret-names.js'

/**
 * Members that label the value next to them, in any letter case: environment variables, parameters,
 * headers in a list, cloud tags.
 */
const LABELS: ReadonlySet<string> = new Set(['name', 'key'])
const VALUES: ReadonlySet<string> = new Set(['value', 'values', 'default', 'defaultvalue'])
const KUBERNETES_VALUES: ReadonlySet<string> = new Set(['data', 'stringData'])

/** The role of a member among its siblings. */
type LabelRole = 'label' | 'value' | 'kubernetesValue' | 'apiVersion' | 'kind'

/** Returns the role of a member of this name, if any. */
export function labelRole(name: string): LabelRole | undefined {
  const lowerCase = name.toLowerCase()
  if (LABELS.has(lowerCase)) return 'label'
  if (VALUES.has(lowerCase)) return 'value'
  if (KUBERNETES_VALUES.has(name)) return 'kubernetesValue'
  return name === 'apiVersion' || name === 'kind' ? name : undefined
}

/**
 * The members of one object that are secret because of their siblings:
 * `{"name":"DB_PASSWORD","value":…}`.
 */
export class LabelledValues {
  private label: string | undefined
  private hasLabel = false
  private isKubernetesSecret = false
  private hasApiVersion = false
  private hasKind = false
  private readonly values: Extent[] = []
  private readonly kubernetesValues: Extent[] = []

  /** Records a member. `text` is its value if that may name a secret. */
  note(role: LabelRole, extent: Extent, text: string): void {
    if (role === 'label') {
      this.hasLabel = true
      if (isSecretUnder(text, '')) this.label = text
    } else if (role === 'value') this.values.push(extent)
    else if (role === 'kubernetesValue') this.kubernetesValues.push(extent)
    else if (role === 'apiVersion') this.hasApiVersion = true
    else {
      this.hasKind = true
      this.isKubernetesSecret ||= text === 'Secret'
    }
  }

  /**
   * Returns the secret extents and the names to report. `isCut` says that the end of the object is
   * missing.
   */
  secrets(isCut: boolean): { readonly name: string; readonly extent: Extent }[] {
    const { values, kubernetesValues } = this
    // The truncated part may contain the label: lists sorted by name have `data` before `kind`, and
    // `value` may precede `name`.
    const label = this.label ?? (isCut && !this.hasLabel ? '(cut off)' : undefined)
    const isSecret = this.isKubernetesSecret || (isCut && this.hasApiVersion && !this.hasKind)
    return [
      ...(label === undefined ? [] : values.map((extent) => ({ name: label, extent }))),
      ...(isSecret ? kubernetesValues.map((extent) => ({ name: 'Secret', extent })) : []),
    ]
  }
}

/** Classification of a member by its name. */
export interface MemberName {
  readonly name: string
  readonly isSecret: boolean
  /** Secret if the value is a string. */
  readonly isSecretText: boolean
  /** Secret if it is a header. */
  readonly isSecretHeader: boolean
  /** Whether the value contains headers. */
  readonly isHeaders: boolean
  readonly role: LabelRole | undefined
}

interface KnownName extends MemberName {
  /** The bytes between the quotes. */
  readonly written: Uint8Array
}

/** Documents of one kind have some hundred names, each used many times. */
const KNOWN_NAMES = 1024
const MAX_KNOWN_LENGTH = 64

/** Classifies member names, and caches the latest results. */
export class MemberNames {
  readonly #known: (KnownName | undefined)[] = new Array<undefined>(KNOWN_NAMES).fill(undefined)

  /** Classifies the name whose literal starts at `open`. Throws as `scanString`. */
  read(json: Uint8Array, open: number): MemberName {
    let hash = 0
    let end = open + 1
    for (let byte = json[end] ?? QUOTE; byte !== QUOTE; byte = json[++end] ?? QUOTE) {
      if (byte === BACKSLASH) return describeName(json, open)
      hash = (Math.imul(hash, 31) + byte) | 0
    }
    const slot = (hash ^ (hash >>> 15)) & (KNOWN_NAMES - 1)
    const known = this.#known[slot]
    if (known !== undefined && isWritten(known.written, json, open + 1, end)) return known
    const described = describeName(json, open)
    if (end - open > MAX_KNOWN_LENGTH) return described
    // Copied, because a `slice` of a Buffer would retain the whole text and change with its memory.
    const added = { ...described, written: new Uint8Array(json.subarray(open + 1, end)) }
    this.#known[slot] = added
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
