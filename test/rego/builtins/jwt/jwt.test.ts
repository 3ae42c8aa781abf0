import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { jwtBuiltins } from '../../../../src/rego/builtins/jwt/jwt.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'
import { readStoredOutcomes } from '../../../support/stored-outcomes.js'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const NOW_NS = 1_700_000_000_000_000_000n

function outcome(builtin: string, ...args: unknown[]): string {
  return outcomeOf(jwtBuiltins, builtin, JSON.stringify(args), NOW_NS)
}

function encode(header: unknown, payload: unknown): string {
  const encoded = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  return encoded.join('.')
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString()
}

describe('JSON web tokens', () => {
  it.each(readStoredOutcomes('jwt').map((stored, index) => ({ stored, index })))(
    'have the outcome of OPA in case $index: $stored.0 gives $stored.2',
    ({ stored: [builtin, args, wanted] }) => {
      expect(outcomeOf(jwtBuiltins, builtin, args, NOW_NS)).toBe(wanted)
    },
  )

  it('verify and sign with Ed25519, as OPA does since 1.0', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const jwk = privateKey.export({ format: 'jwk' })
    const token = JSON.parse(outcome('io.jwt.encode_sign', { alg: 'EdDSA' }, { x: 1 }, jwk)) as string
    expect(outcome('io.jwt.verify_eddsa', token, pem(publicKey))).toBe('true')
    expect(
      outcome(
        'io.jwt.verify_eddsa',
        `${encode({ alg: 'EdDSA' }, { x: 2 })}.${token.split('.')[2]}`,
        pem(publicKey),
      ),
    ).toBe('false')
    expect(outcome('io.jwt.verify_rs256', token, pem(publicKey))).toBe('false')
    expect(outcome('io.jwt.decode_verify', token, { cert: pem(publicKey) })).toBe(
      '[true,{"alg":"EdDSA"},{"x":1}]',
    )
  })

  it.each(['PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])('signed with %s verify', (alg) => {
    const { publicKey, privateKey } = alg.startsWith('PS')
      ? rsa
      : generateKeyPairSync('ec', { namedCurve: `P-${alg === 'ES512' ? '521' : alg.slice(2)}` })
    const jwk = privateKey.export({ format: 'jwk' })
    const token = JSON.parse(outcome('io.jwt.encode_sign', { alg }, { x: 1 }, jwk)) as string
    expect(outcome(`io.jwt.verify_${alg.toLowerCase()}`, token, pem(publicKey))).toBe('true')
    expect(outcome('io.jwt.decode_verify', token, { cert: pem(publicKey), alg })).toBe(
      `[true,{"alg":"${alg}"},{"x":1}]`,
    )
  })

  it('signed with HMAC under a public key as secret do not pass for tokens of that key', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const input = encode({ alg: 'HS256' }, { admin: true })
    const forged = `${input}.${createHmac('sha256', pem(publicKey)).update(input).digest('base64url')}`
    expect(outcome('io.jwt.decode_verify', forged, { cert: pem(publicKey) })).toBe('[false,{},{}]')
    expect(outcome('io.jwt.verify_es256', forged, pem(publicKey))).toBe('false')
  })

  it('without a signature are refused whatever trust is given', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const token = `${encode({ alg: 'none' }, { admin: true })}.`
    expect(outcome('io.jwt.decode_verify', token, { cert: pem(publicKey) })).toBe('[false,{},{}]')
    expect(outcome('io.jwt.decode_verify', token, { secret: 's', alg: 'none' })).toBe('[false,{},{}]')
  })

  it('with a claim or header field of a strange type do not stop the process, as they do OPA', () => {
    const input = encode({ alg: 'HS256' }, { iss: 1 })
    const token = `${input}.${createHmac('sha256', 's').update(input).digest('base64url')}`
    expect(outcome('io.jwt.decode_verify', token, { secret: 's', iss: 'me' })).toBe('[false,{},{}]')
    expect(outcome('io.jwt.decode', `${encode({ cty: 1 }, {})}.`)).toBe('[{"cty":1},{},""]')
  })

  it('nested too deeply in a payload are refused', () => {
    const deep = Buffer.from(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`).toString('base64url')
    expect(outcome('io.jwt.decode', `e30.${deep}.`)).toMatch(/exceeded max depth$/)
  })

  it('name the broken header as in the conformance cases', () => {
    const key = '{"kty":"oct","k":"c2VjcmV0"}'
    const context = "eval_builtin_error: missing or invalid 'alg' header: cannot parse JSON"
    expect(outcome('io.jwt.encode_sign_raw', '', '{}', key)).toBe(`${context}: cannot parse empty string`)
    expect(outcome('io.jwt.encode_sign_raw', '{"typ:"JWT"}', '{}', key)).toBe(
      `${context}: invalid character 'J' after object key`,
    )
  })

  it('signed by a key whose certificate does not parse are an error', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const input = encode({ alg: 'ES256' }, {})
    const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    const broken = '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n'
    expect(outcome('io.jwt.verify_es256', `${input}.${signature.toString('base64url')}`, broken)).toBe(
      'eval_builtin_error: failed to parse a PEM public key: x509: malformed public key',
    )
  })
})
