import { asBuffer } from '../as-buffer.js'
import { decodeString } from '../json/decode-string.js'
import type { Extent } from '../json/extent.js'
import { OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../json/json-bytes.js'
import { MAX_NESTING } from '../json/nesting.js'
import { walkElements, walkMembers } from '../json/scan-members.js'
import { scanSpace } from '../json/scan-space.js'
import { scanString } from '../json/scan-string.js'
import { scanValue } from '../json/scan-value.js'
import { nestedTooDeeply } from '../json/nested-too-deeply.js'
import { LabelledValues } from './labelled-values.js'
import { redactText } from './redact-text.js'
import type { EmbeddedRedactor } from './redact-text.js'
import { REDACTED } from './redacted.js'
import type { Redacted } from './redacted.js'
import { isHeaderMember, isSecretHeader, isSecretName } from './secret-names.js'

/** A value to be replaced: a secret, or a text that holds some. */
export type FoundSecret = Extent & Redacted

type NameTest = (name: string) => boolean

/** How a text begins that holds JSON, plain (white space may be escaped) or as Base64. */
const TEXT_STARTS: ReadonlySet<number> = new Set(Buffer.from('{[\\ eW'))

/** Values that give nothing away, and what an earlier redaction left. */
const HARMLESS: ReadonlySet<string> = new Set([
  'null',
  'true',
  'false',
  '""',
  '[]',
  '{}',
  REDACTED.toString(),
])

/** The secrets of a JSON text in the order of the text, none inside another; raises the errors of `scanValue`. */
export function findSecrets(json: Buffer, redactEmbedded: EmbeddedRedactor | undefined): FoundSecret[] {
  const finder = new SecretFinder(json, redactEmbedded)
  finder.walk(scanSpace(json, 0), 0, isSecretName)
  const inOrder = finder.found.sort((a, b) => a.start - b.start || b.end - a.end)
  let end = 0
  return inOrder.filter((secret) => {
    if (secret.start < end) return false
    end = secret.end
    return true
  })
}

class SecretFinder {
  readonly found: FoundSecret[] = []
  private readonly json: Buffer
  private readonly redactEmbedded: EmbeddedRedactor | undefined
  private readonly hasPrivateKey: boolean

  constructor(json: Buffer, redactEmbedded: EmbeddedRedactor | undefined) {
    this.json = json
    this.redactEmbedded = redactEmbedded
    this.hasPrivateKey = json.includes('PRIVATE KEY-----')
  }

  /** Looks through the value at `at`, in whose objects `isSecret` tells by the name; gives the offset after it. */
  walk(at: number, depth: number, isSecret: NameTest): number {
    if (depth > MAX_NESTING) throw nestedTooDeeply()
    const first = this.json[at]
    if (first === QUOTE) return this.walkText(at)
    if (first === OPEN_OBJECT) return this.walkObject(at, depth, isSecret)
    if (first === OPEN_ARRAY) {
      return walkElements(this.json, at, (_, start) => this.walk(start, depth + 1, isSecret))
    }
    return scanValue(this.json, at)
  }

  private walkObject(open: number, depth: number, isSecret: NameTest): number {
    const labelled = new LabelledValues()
    const end = walkMembers(this.json, open, (keyStart, start) => {
      const name = this.textAt(keyStart)
      const valueEnd = isSecret(name)
        ? this.redact(name, { start, end: scanValue(this.json, start) })
        : this.walk(start, depth + 1, isHeaderMember(name) ? isSecretHeader : isSecretName)
      labelled.note(name, { start, end: valueEnd }, () => this.textAt(start))
      return valueEnd
    })
    for (const { name, extent } of labelled.secrets()) this.redact(name, extent)
    return end
  }

  private walkText(start: number): number {
    const end = scanString(this.json, start)
    if (!this.hasPrivateKey && !TEXT_STARTS.has(this.json[start + 1] ?? 0)) return end
    const text = asBuffer(decodeString(this.json, start, end))
    const redacted = redactText(text, this.redactEmbedded)
    if (redacted !== undefined) this.found.push({ start, end, ...redacted })
    return end
  }

  private redact(name: string, { start, end }: Extent): number {
    const isHarmless =
      end - start <= REDACTED.length && HARMLESS.has(this.json.toString('latin1', start, end))
    if (!isHarmless) this.found.push({ start, end, text: REDACTED, count: 1, names: [name] })
    return end
  }

  /** The text whose literal is at `start`; empty where something else is there. */
  private textAt(start: number): string {
    if (this.json[start] !== QUOTE) return ''
    return asBuffer(decodeString(this.json, start, scanString(this.json, start))).toString()
  }
}
