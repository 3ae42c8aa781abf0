import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { closeJson } from '../../../src/lib/redaction/close-json.js'
import { replaceExtents } from '../../../src/lib/json/edit/replace-extents.js'
import { findSecrets } from '../../../src/lib/redaction/find-secrets.js'
import type { Cut } from '../../../src/lib/redaction/find-secrets.js'
import { findCandidates } from '../../../src/lib/redaction/secret-patterns.js'
import { redactSecrets } from '../../../src/lib/redaction/redact.js'
import type { Redacted } from '../../../src/lib/redaction/redacted.js'
import { PLANTED } from '../../support/planted-secrets.js'

/** The redacted text if no string and no list in it is skipped. */
function redactEverywhere(json: Buffer, cut?: Cut): Redacted | undefined {
  const candidates = Array.from({ length: json.length }, (_, at) => at)
  const redactEmbedded = (inner: Buffer) => redactEverywhere(inner)
  const found = findSecrets(json, {
    candidates,
    known: [],
    cut,
    keepsNumbers: false,
    embeddings: 0,
    redactEmbedded,
  })
  return found.length === 0
    ? undefined
    : { text: replaceExtents(json, found), count: found.length, names: [], values: [] }
}

/** Parts of the forms of secrets, with separators as JSON writes them. */
const FRAGMENTS = [
  ...[
    'pass',
    'word',
    'pwd',
    'secret',
    'token',
    'api',
    'access',
    'key',
    'Key',
    'KEY',
    'auth',
    'auths',
    '_auth',
  ],
  ...[
    'authorization',
    's',
    'cookie',
    'bearer',
    'basic',
    'digest',
    'connection',
    'string',
    'signature',
    'sig',
  ],
  ...['headers', 'requestHeaders', 'name', 'value', 'data', 'kind', 'Secret', 'X-Custom-Key', 'x-goog-key'],
  ...['curl', 'mysql', 'sshpass', '-p', '-u', '--', '--db-', 'a:b', 'ana:hunter2'],
  ...[
    '://',
    'https://',
    '@',
    '?',
    '&',
    '=',
    ':',
    ': ',
    ' => ',
    '%',
    '%61',
    '%20',
    '%3d',
    '<',
    '>',
    '</',
    '/',
  ],
  ...['sk-', 'sk_live_', 'ghp_', 'glpat-', 'AKIA', 'eyJ', 'npm_', 'hvs.', 'x'.repeat(20), 'A1'.repeat(10)],
  ...[' ', '\n', '\t', '\r\n', '\b', '"', "'", '\\', '.', '-', '_', 'é', '–', ' ', '😀', '0', '7', 'a', 'Z'],
  ...['|\n  ', '[redacted]'],
]

const text = fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 7 }).map((parts) => parts.join(''))
const leaf = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom(...PLANTED.map(([, value]) => value)) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 12, 'kubernetes') },
)
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(text, tie('json'), { maxKeys: 4 }),
    tie('json').map((value) => JSON.stringify(value)),
    tie('json').map((value) => Buffer.from(JSON.stringify(value)).toString('base64')),
    fc.tuple(text, tie('json')).map(([name, value]) => ({ name, value })),
  ),
}))

const written = fc
  .tuple(json, fc.constantFrom('plain', 'indented', 'slashes', 'ascii', 'letters', 'odd'))
  .map(([value, how]) => {
    const plain = JSON.stringify(value)
    if (how === 'indented') return JSON.stringify(value, null, 2)
    if (how === 'slashes') return plain.replaceAll('/', '\\/')
    if (how === 'letters') return plain.replaceAll('e', '\\u0065').replaceAll('=', '\\u003d')
    if (how === 'odd') return ` ${plain}`
    return how === 'ascii' ? plain.replace(/[^\0-\x7f]/g, escaped) : plain
  })

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

describe('the quick look', () => {
  it('misses nothing that a look at every text finds', () => {
    fc.assert(
      fc.property(written, fc.boolean(), (source, isOdd) => {
        // At an odd address too: pairs of bytes are read at even ones.
        const bytes = Buffer.alloc(source.length * 4 + 2)
        const start = isOdd ? 1 : 0
        const length = bytes.write(source, start)
        const document = bytes.subarray(start, start + length)
        const everywhere = redactEverywhere(document)?.text ?? document
        expect(redactSecrets(document).text.toString()).toBe(everywhere.toString())
      }),
      { numRuns: 3000 },
    )
  })

  it('misses nothing in a text that was cut', () => {
    fc.assert(
      fc.property(written, fc.nat(), (source, length) => {
        const bytes = Buffer.from(source)
        const { json: closed, cutAt, containers } = closeJson(bytes.subarray(0, length % (bytes.length + 1)))
        const cut = { at: cutAt, containers }
        const everywhere = redactEverywhere(closed, cut)?.text ?? closed
        expect(redactSecrets(closed, { cut }).text.toString()).toBe(everywhere.toString())
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['a key on a line of its own', '"keys:\\nsk-proj-abcdefghijklmnopqrstuvwx"'],
    ['credentials after a tab', '"Basic\\tdXNlcjpwYXNz1"'],
    ['a header by a name of its own', '"x-goog-key: abcdef12"'],
    ['the pair of a plural', '["auths","x1"]'],
    ['a list of headers', '{"headers":[{"X-Session":"x"}]}'],
    ['headers behind white space', '{"headers": {\n\t"X-Session":"x"}}'],
    ['headers in a text', '{"a":"{\\"headers\\":{\\n\\"X-Session\\":\\"x\\"}}"}'],
    ['a blank as a percent escape', '"/?api%20key=x1"'],
    ['a short text in Base64', '{"a":"eyJwd2QiOjF9"}'],
    ['Base64 with escaped slashes', '{"a":"dG9rZW4\\/PWh1bnRlcjI="}'],
    ['Base64 behind the escape of a line end', '{"a":"b\\ndG9rZW49aHVudGVyMg"}'],
    ['Base64 behind a slash', '{"a":"x/dG9rZW49aHVudGVyMg"}'],
    ['words with escapes between', '{"api\\n\\u2013key":"x"}'],
    ['a key behind an escape', '{"\\ud83d\\ude00sk_live_A1A1A1A1A1A1A1A1A1A1":""}'],
    ['a key behind the escape of a line end', '"\\nsk-proj-abcdefghijklmnopqrstuvwx"'],
    ['a name behind an escape', '{"\\u00ABauth":"x1"}'],
    ['letters outside of ASCII between', '{"api––key":"x"}'],
    ['credentials that begin with an @', '{"a":"https://@hunter2@example.org"}'],
    ['credentials that are one', '{"a":["https://@@"]}'],
  ])('finds %s', (_, source) => {
    expect(findCandidates(Buffer.from(source))).not.toEqual([])
  })

  it.each([
    '{"expectedArtifacts":[],"keepWaitingPipelines":false,"keys":["monkey"],"Wx":"W1lx"}',
    '{"authentication":{"user":"ana@example.org"},"authorizations":["READ"]}',
    '{"requestHeaders":{},"headers": [ ],"a":"{\\"headers\\": {\\n}}"}',
    '{"a":"https://example.org/x?a=b#c","b":"task-1 disk_2 bypassed passed","c":"50%","d":"caf\\u00e9"}',
  ])('finds nothing in %s', (source) => {
    expect(findCandidates(Buffer.from(source))).toEqual([])
  })

  it('gives the places in the order of the text', () => {
    const many = JSON.stringify({ a: 'key '.repeat(500), b: ['token', 'x@y', 'a=b'] })
    const candidates = findCandidates(Buffer.from(many))
    expect(candidates).toEqual([...candidates].sort((a, b) => a - b))
    expect(candidates.map((at) => many.slice(at - 4, at + 1))).toContain('token')
  })
})
