import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import { redactSecrets } from '../../../src/lib/redaction/redact.js'
import { redactWords } from '../../../src/lib/redaction/redact-text.js'
import { HARMLESS_MEMBERS } from '../../support/harmless-members.js'
import { SECRET_NAMES, TOKENS } from '../../support/secret-forms.js'

const PIPELINES = 'test/cases/pipelines'
const PASSWORD = 'opensesame-42'

const shown = (value: unknown): string => redactSecrets(Buffer.from(JSON.stringify(value))).text.toString()
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const wrapped = (text: string): string => base64(text).replace(/.{76}/g, '$&\n')

/** Where a secret may be that is known by its form alone. */
const PLACES: readonly (readonly [string, (secret: string) => unknown])[] = [
  ['as the value of a member', (secret) => ({ note: secret })],
  ['in a list', (secret) => [{ notes: ['first', secret] }]],
  ['as the name of a member', (secret) => ({ [secret]: 1 })],
  ['in a longer text', (secret) => ({ note: `take ${secret}, then go on` })],
  ['in the path of a URL', (secret) => ({ url: `https://example.org/a/${secret}/b` })],
  ['in the query of a URL', (secret) => ({ url: `https://example.org/?a=b&c=${secret}&d` })],
  ['as the user of a URL', (secret) => ({ url: `https://${secret}@example.org/a.git` })],
  ['percent-encoded in a query', (secret) => ({ url: `/?next=${encodeURIComponent(`/x?c=${secret}`)}` })],
  ['in a file of settings', (secret) => ({ env: `A=1\nVALUE=${secret}\nB=2\n` })],
  ['in quotes in a script', (secret) => ({ script: `export VALUE="${secret}"\n./deploy` })],
  ['in YAML', (secret) => ({ template: `a:\n  - b: ${secret}\n    c: d\n` })],
  ['in a header', (secret) => ({ headers: { 'X-Session': secret } })],
  ['in the header of a command', (secret) => ({ command: `curl -H 'X-A: ${secret}' https://example.org` })],
  ['in a line of a log', (secret) => ({ log: `10:31:07 WARN [main] cannot use ${secret} (401)\n` })],
  ['in a line of JSON in a log', (secret) => ({ log: `10:31 ${JSON.stringify({ a: `x\n${secret}` })}` })],
  ['in JSON in a text', (secret) => ({ body: JSON.stringify({ a: [secret] }) })],
  ['in Base64', (secret) => ({ data: base64(secret) })],
  ['in Base64 for URLs', (secret) => ({ data: Buffer.from(`a? ${secret}`).toString('base64url') })],
  ['in Base64 in a longer text', (secret) => ({ note: `the data is ${base64(secret)} there` })],
  ['in Base64 of a file of settings', (secret) => ({ data: base64(`A=1\nVALUE=${secret}\n`) })],
  ['in Base64 of YAML, in YAML', (secret) => ({ y: `data:\n  a.yml: ${base64(`a:\n  b: ${secret}\n`)}\n` })],
  [
    'in Base64 on several lines',
    (secret) => ({ data: wrapped(`${'# a comment\n'.repeat(9)}A=${secret}\n`) }),
  ],
  ['in Base64 twice', (secret) => ({ data: base64(base64(`A=${secret}`)) })],
]

/** Where a secret may be that is known by its name. */
const NAMED_PLACES: readonly (readonly [string, (name: string, secret: string) => unknown])[] = [
  ['as a member', (name, secret) => ({ a: [{ [name]: secret }] })],
  ['as a variable', (name, secret) => ({ env: [{ name, value: secret }] })],
  ['as an option', (name, secret) => ({ args: ['deploy', `--${name}`, secret] })],
  ['in the query of a URL', (name, secret) => ({ url: `https://example.org/?a=b&${name}=${secret}` })],
  ['in a longer text', (name, secret) => ({ note: `then ${name}=${secret} is used` })],
  ['in a file of settings', (name, secret) => ({ env: `A=1\n${name}=${secret}\nB=2\n` })],
  ['in quotes in a script', (name, secret) => ({ script: `export ${name}='two words ${secret}'\n./deploy` })],
  ['in YAML', (name, secret) => ({ template: `user: ana\n${name}: ${secret}\n` })],
  ['in a line of a log', (name, secret) => ({ log: `10:31:07 DEBUG user=ana ${name}=${secret} ok` })],
  ['in a line of JSON in a log', (name, secret) => ({ log: `10:31 ${JSON.stringify({ [name]: secret })}` })],
  ['in Base64 of a file of settings', (name, secret) => ({ data: base64(`A=1\n${name}=${secret}\n`) })],
  ['in Base64 of YAML', (name, secret) => ({ data: base64(`user: ana\n${name}: ${secret}\n`) })],
  ['in Base64 of JSON', (name, secret) => ({ data: base64(JSON.stringify({ [name]: secret })) })],
]

/** A text with all Base64 in it decoded, to any depth. */
function decoded(text: string): string {
  const plain = text.replaceAll('\\n', '\n')
  const runs = [...plain.matchAll(/[\w+/-]{12,}(?:\n[\w+/-]+)*={0,2}/g)]
  const inner = runs.map(([run]) => Buffer.from(run, 'base64').toString())
  const readable = inner.filter((inside) => /^[\t\n\r -~]+$/.test(inside))
  return [plain, decodeURIComponent(plain.replace(/%(?![\dA-F]{2})/g, '')), ...readable.map(decoded)].join(
    '\n',
  )
}

describe.each(TOKENS)('%s', (_, secret) => {
  test.each(PLACES)('%s is redacted', (_place, put) => {
    expect(decoded(JSON.stringify(put(secret)))).toContain(secret)
    expect(decoded(shown(put(secret)))).not.toContain(secret)
  })
})

describe.each(SECRET_NAMES)('a text named %s', (name) => {
  test.each(NAMED_PLACES)('%s is redacted', (_place, put) => {
    expect(decoded(shown(put(name, PASSWORD)))).not.toContain(PASSWORD)
  })
})

describe('a key of several lines is redacted', () => {
  const body = 'aB3dE5gH7jK9'.repeat(6)
  test.each([
    ...['', 'RSA ', 'EC ', 'DSA ', 'OPENSSH ', 'ENCRYPTED '].map((kind) => [`${kind}PRIVATE KEY`]),
    ['PGP PRIVATE KEY BLOCK'],
  ])('%s', (kind) => {
    const key = ['-----', `BEGIN ${kind}-----\n`, body, `\n-----END ${kind}-----\n`].join('')
    const places = [
      { key },
      { note: `the key:\n${key}` },
      { data: base64(key) },
      { data: wrapped(key) },
      { y: `tls.key: ${base64(key)}\nother: x\n` },
      { body: JSON.stringify({ data: { 'tls.key': base64(key) } }) },
    ]
    for (const place of places) expect(decoded(shown(place))).not.toContain(body)
  })
})

test.each([
  `machine git.example.org login ana password ${PASSWORD}`,
  `machine git.example.org\n  login ana\n  password ${PASSWORD}\n\nmachine b.example.org password x`,
])('the password of an entry of .netrc is redacted, and the host stays: %#', (netrc) => {
  for (const place of [{ netrc }, { data: base64(netrc) }, { note: `wrote ${netrc}` }]) {
    expect(decoded(shown(place))).not.toContain(PASSWORD)
    expect(decoded(shown(place))).toContain('machine git.example.org')
  }
})

test('a URL with credentials in Base64 keeps the surrounding text', () => {
  const url = (credentials: string): string => `postgres://ana:${credentials}@db.example.org:5432/shop`
  expect(shown({ data: base64(url('hunter2')) })).toBe(
    JSON.stringify({ data: base64('postgres://[redacted]@db.example.org:5432/shop') }),
  )
})

test('Base64 of a text without a secret, of bytes and of a picture stays as it is', () => {
  const value = {
    text: base64('LOG_LEVEL=debug\nREGION=eu-west-1\n'),
    bytes: Buffer.from(Array.from({ length: 90 }, (_, at) => (at * 37) % 256)).toString('base64'),
    note: `see ${base64('the runbook of the shop')} for more`,
  }
  expect(shown(value)).toBe(JSON.stringify(value))
})

test.each(HARMLESS_MEMBERS)('the member %s stays as it is', (name, value) => {
  expect(shown({ [name]: value, a: { [name]: value } })).toBe(
    JSON.stringify({ [name]: value, a: { [name]: value } }),
  )
})

test.each([
  'tests pass: 12 of 14',
  'all tests passed, bypass=yes, compass=north',
  'pass=80 marginal=50',
  'PASS: deploys to production need an approval',
  'tokens: 512, maxTokens=4096',
  'keyName=shop-key keys=3',
])('the text "%s" stays as it is', (text) => {
  expect(redactWords(text)).toBe(text)
})

test.each(readdirSync(PIPELINES))('the pipeline %s of the tests stays as it is', (file) => {
  const json = readFileSync(join(PIPELINES, file))
  expect(redactSecrets(json).names.filter((name) => name === '(token)' || /pw|account/i.test(name))).toEqual(
    [],
  )
})
