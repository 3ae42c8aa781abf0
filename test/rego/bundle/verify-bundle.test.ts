import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, describe, expect, test } from 'vitest'

import { hashFile } from '../../../src/rego/bundle/signing/verify-bundle.js'
import { readSigningKey } from '../../../src/rego/bundle/signing/sign-bundle.js'
import { NO_VERIFICATION, readBundleKey } from '../../../src/rego/bundle/signing/verification.js'
import type { BundleVerification, SignatureDemand } from '../../../src/rego/bundle/signing/verification.js'
import { verifyBundle } from '../../../src/rego/bundle/signing/verify-bundle.js'
import type { JwsAlgorithm } from '../../../src/rego/builtins/jwt/signature.js'
import { findOpa } from '../../../src/rego/opa/find-opa.js'
import { makeWorkspace } from '../../support/workspace.js'

const opa = await findOpa({ env: process.env })
const FILES: Readonly<Record<string, string>> = {
  '.manifest': '{"revision": "r1", "roots": ["n", "b", "y", "p"]}',
  'data.json': '{"n": 1.50, "b": {"z": "<é>\\u2028 \\u0007\\b\\ud800", "a": [1e5, null, true, {}]}}',
  'y/data.yaml': 'k: 1.50\nm: 0x10\nt: yes\nd: [1, {c: ~}]\n',
  'y/z/data.yml': 'k: 1\n',
  'p.rego': 'package p\nallow = true\n',
  'policy.wasm': '\0asm',
}
const workspace = makeWorkspace(
  Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`bundle/${name}`, text])),
)
afterAll(workspace.remove)

const SECRET = 'a secret of our own'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
/** The pair of each algorithm with its own curve. */
const ec = new Map(
  (['P-256', 'P-384', 'P-521'] as const).map((namedCurve, nth) => [
    ['ES256', 'ES384', 'ES512'][nth] ?? '',
    generateKeyPairSync('ec', { namedCurve }),
  ]),
)
const privatePem = { type: 'pkcs8', format: 'pem' } as const
const ecPem = { type: 'sec1', format: 'pem' } as const
const publicPem = { type: 'spki', format: 'pem' } as const
workspace.write({
  'rsa.pem': rsa.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  'rsa8.pem': rsa.privateKey.export(privatePem).toString(),
  ...Object.fromEntries(
    [...ec].map(([name, { privateKey }]) => [`${name}.pem`, privateKey.export(ecPem).toString()]),
  ),
  'claims.json': '{"scope": "write", "keyid": "other"}',
})

/** The files of the bundle with the signature that the real `opa sign` makes. */
function sign(algorithm: string, ...flags: readonly string[]): Map<string, Buffer> {
  const key = algorithm.startsWith('HS')
    ? SECRET
    : algorithm.startsWith('ES')
      ? `${algorithm}.pem`
      : 'rsa.pem'
  const path = algorithm.startsWith('HS') ? key : join(workspace.path, key)
  const args = ['sign', '--signing-alg', algorithm, '--signing-key', path, '--bundle', '.', ...flags]
  execFileSync(opa.path, args, { cwd: join(workspace.path, 'bundle') })
  const names = [...Object.keys(FILES), '.signatures.json']
  return new Map(names.map((name) => [name, readFileSync(join(workspace.path, 'bundle', name))]))
}

function publicText(algorithm: JwsAlgorithm): string {
  if (algorithm.startsWith('HS')) return SECRET
  return (ec.get(algorithm) ?? rsa).publicKey.export(publicPem).toString()
}

function verification(
  algorithm: JwsAlgorithm,
  demand: Partial<SignatureDemand> = {},
  text = publicText(algorithm),
): BundleVerification {
  const key = { algorithm, key: readBundleKey('ours', algorithm, text), scope: '' }
  const whole = { isRequired: true, keyId: 'ours', excludedFiles: [], ...demand }
  return { keys: new Map([['ours', key]]), demandOf: () => whole, demandOfSource: () => whole }
}

const outcome = (files: ReadonlyMap<string, Buffer>, how: BundleVerification): string => {
  try {
    verifyBundle('b.tar.gz', files, how.keys, how.demandOf('b.tar.gz'))
    return 'fine'
  } catch (raw) {
    return (raw as Error).message
  }
}

const ALGORITHMS: readonly JwsAlgorithm[] = [
  'HS256',
  'HS384',
  'HS512',
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
]

describe('a bundle signed by opa', () => {
  test.each(ALGORITHMS)('verifies with the key of %s, and not when a byte was changed', (algorithm) => {
    const files = sign(algorithm)
    expect(outcome(files, verification(algorithm))).toBe('fine')
    files.set('p.rego', Buffer.from('package p\nallow = false\n'))
    expect(outcome(files, verification(algorithm))).toBe(
      'the signature of the bundle b.tar.gz does not hold: p.rego was changed',
    )
  })

  test.each(['\n', '\r\n', ''])('verifies with a secret whose file ends with %j', (end) => {
    workspace.write({ 'secret.txt': `${SECRET}${end}` })
    // The last of two flags of a name is the one that counts.
    const files = sign('HS256', '--signing-key', join(workspace.path, 'secret.txt'))
    expect(outcome(files, verification('HS256'))).toBe('fine')
    expect(outcome(files, verification('HS256', {}, 'another secret'))).not.toBe('fine')
  })

  const signed = sign('RS256')
  const rs256 = verification('RS256')
  const changed = (changes: Readonly<Record<string, string | undefined>>): Map<string, Buffer> => {
    const files = new Map(signed)
    for (const [name, text] of Object.entries(changes)) {
      if (text === undefined) files.delete(name)
      else files.set(name, Buffer.from(text))
    }
    return files
  }

  test('does not count white space in data and manifest, as opa does not', () => {
    const files = changed({
      '.manifest': '{"roots":["n","b","y","p"],"revision":"r1"}',
      'y/data.yaml': 'd: [1, c: ~]\nm: 16\nk: 1.5\nt: true\n',
    })
    expect(outcome(files, rs256)).toBe('fine')
  })

  test.each([
    [{ 'data.json': '{"n": 1.5}' }, 'data.json was changed'],
    [{ '.manifest': '{"roots": [""]}' }, '.manifest was changed'],
    [{ 'policy.wasm': 'x' }, 'policy.wasm was changed'],
    [{ 'more.rego': 'package p\n' }, 'more.rego is not signed'],
    [{ 'p.rego': undefined }, 'p.rego is signed and not there'],
    [{ '.signatures.json': undefined }, 'b.tar.gz is not signed, and the configuration requires it'],
    [{ '.signatures.json': '{}' }, 'does not hold'],
    [{ '.signatures.json': '{"signatures":[]}' }, 'does not hold'],
    [{ '.signatures.json': '{"signatures":["a.b.c"]}' }, 'does not hold'],
    [{ '.signatures.json': 'no JSON' }, 'does not hold'],
  ])('does not hold with %j', (changes, message) => {
    expect(outcome(changed(changes), rs256)).toContain(message)
  })

  test('holds with files that are excluded', () => {
    const files = changed({ 'more.rego': '', 'p.rego': '' })
    expect(outcome(files, verification('RS256', { excludedFiles: ['*.rego'] }))).toBe('fine')
    expect(outcome(files, verification('RS256', { excludedFiles: ['y/*'] }))).toContain(
      'more.rego is not signed',
    )
  })

  test('is refused without a key, and an unsigned one is taken where none is required', () => {
    expect(outcome(signed, NO_VERIFICATION)).toContain('it names no key')
    const named = sign('RS256', '--claims-file', join(workspace.path, 'claims.json'))
    expect(outcome(named, NO_VERIFICATION)).toContain("the key 'other' is not in policies.bundleSigning.keys")
    expect(outcome(changed({ '.signatures.json': undefined }), NO_VERIFICATION)).toBe('fine')
  })

  test('is refused with another scope', () => {
    const files = sign('RS256', '--claims-file', join(workspace.path, 'claims.json'))
    expect(outcome(files, rs256)).toContain("its scope is 'write', not ''")
    expect(outcome(files, verification('RS256', { scope: 'write' }))).toBe('fine')
    expect(outcome(signed, verification('RS256', { scope: 'write' }))).toContain(
      "its scope is '', not 'write'",
    )
  })

  test('is refused under another algorithm or key', () => {
    expect(outcome(signed, verification('RS512'))).toContain(
      "its algorithm is 'RS256', that of the key 'ours' is RS512",
    )
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export(publicPem).toString()
    expect(outcome(signed, verification('RS256', {}, other))).toContain("does not verify with the key 'ours'")
    expect(() => readBundleKey('ours', 'RS256', publicText('ES256'))).toThrow(
      'the bundle key ours (type ec, curve prime256v1) does not fit RS256: use ES256 or another key',
    )
    expect(() => readBundleKey('ours', 'ES256', 'nothing')).toThrow('cannot be read')
  })

  const pairs = ALGORITHMS.flatMap((algorithm) => ALGORITHMS.map((key) => [algorithm, key] as const))
  const fits = (algorithm: JwsAlgorithm, key: JwsAlgorithm): boolean =>
    algorithm === key || [algorithm, key].every((one) => /^(?:RS|PS)/.test(one))
  test.each(pairs.filter(([algorithm, key]) => !fits(algorithm, key) && !key.startsWith('HS')))(
    'is neither verified nor signed under %s with a key of %s',
    (algorithm, key) => {
      const says = algorithm.startsWith('HS')
        ? `${algorithm} needs a secret`
        : `does not fit ${algorithm}: use `
      expect(() => readBundleKey('ours', algorithm, publicText(key))).toThrow(says)
      const file = join(workspace.path, key.startsWith('ES') ? `${key}.pem` : 'rsa8.pem')
      const signing = { algorithm, key: readFileSync(file, 'utf8') }
      expect(() => readSigningKey(signing)).toThrow(says)
    },
  )

  test('is not verified with an empty secret, nor signed with a curve or a type that no algorithm has', () => {
    expect(() => readBundleKey('ours', 'HS256', '\n')).toThrow('the bundle key ours is empty')
    const others = [generateKeyPairSync('ec', { namedCurve: 'secp256k1' }), generateKeyPairSync('ed25519')]
    for (const { privateKey } of others)
      expect(() =>
        readSigningKey({ algorithm: 'ES256', key: privateKey.export(privatePem).toString() }),
      ).toThrow('use an RSA key or one of the curves P-256, P-384 and P-521')
  })

  test('is refused when its token says that it needs no key', () => {
    const [, payload = ''] = signedToken(signed).split('.')
    const header = Buffer.from('{"alg":"none","kid":"ours"}').toString('base64url')
    const text = JSON.stringify({ signatures: [`${header}.${payload}.`] })
    expect(outcome(changed({ '.signatures.json': text }), rs256)).toContain("its algorithm is 'none'")
  })
})

function signedToken(files: ReadonlyMap<string, Buffer>): string {
  const { signatures } = JSON.parse(String(files.get('.signatures.json'))) as { signatures: string[] }
  return signatures[0] ?? ''
}

test.each(['MD5', 'SHA-1', '', 'constructor'])('the hash %j is refused', (algorithm) => {
  expect(() => hashFile('p.rego', Buffer.from(''), algorithm)).toThrow('sign with one of SHA-224')
})
