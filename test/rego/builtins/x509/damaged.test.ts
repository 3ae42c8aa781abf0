import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { jwtBuiltins } from '../../../../src/rego/builtins/jwt/jwt.js'
import { x509Builtins } from '../../../../src/rego/builtins/x509/x509.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'

const file = new URL('../../../cases/builtins/x509.json', import.meta.url)
const { keys } = z
  .looseObject({ keys: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(file, 'utf8')))

const call = (name: string, text: string): string =>
  outcomeOf(x509Builtins, `crypto.${name}`, JSON.stringify([text])).replace(/^\w+_error: .*/s, 'an error')

/** Applies a change to the DER of a PEM text. */
function changed(pem: string, change: (der: Buffer) => Buffer): string {
  return pem.replace(/(?<=-----\n)[\w+/=\n]+(?=-----END)/, (body) => {
    const der = change(Buffer.from(body, 'base64'))
    return der.toString('base64').replaceAll(/.{1,64}/g, '$&\n')
  })
}

function flipped(at: number): (der: Buffer) => Buffer {
  return (der) => {
    const place = (at + der.length) % der.length
    return Buffer.from(der.map((byte, index) => (index === place ? byte ^ 1 : byte)))
  }
}

/** All outcomes are those of OPA 1.20.2. */
describe('damaged and odd texts', () => {
  const ec = keys['ec-prime256v1.pem'] ?? ''
  const rsa = keys['rsa1.pem'] ?? ''
  const ed = keys['ed.pem'] ?? ''
  const certificate = keys['root.crt'] ?? ''

  it('the stored point of an elliptic curve key is ignored', () => {
    const whole = call('x509.parse_rsa_private_key', ec)
    expect(whole).toContain('"crv":"P-256"')
    expect(call('x509.parse_rsa_private_key', changed(ec, flipped(-20)))).toBe(whole)
    // The first byte of the number, which then has another point.
    const other = call('x509.parse_rsa_private_key', changed(ec, flipped(10)))
    expect(other).toContain('"crv":"P-256"')
    expect(/"x":"[^"]*"/.exec(other)?.[0]).not.toBe(/"x":"[^"]*"/.exec(whole)?.[0])
  })

  it('an inconsistent RSA key is refused', () => {
    expect(call('parse_private_keys', rsa)).toContain('"Primes"')
    expect(call('parse_private_keys', changed(rsa, flipped(40)))).toBe('an error')
  })

  it.each(['p', 'q'] as const)('an RSA key one of whose primes is 1 is none: %s', (one) => {
    const { n = '', ...rest } = createPrivateKey(rsa).export({ format: 'jwk' })
    const numbers = { ...rest, n, p: n, q: n, [one]: 'AQ' }
    const pem = createPrivateKey({ key: numbers, format: 'jwk' }).export({ format: 'pem', type: 'pkcs1' })
    expect(call('parse_private_keys', pem.toString())).toBe('an error')
  })

  it.each<[string, KeyObject]>([
    ['RSA-PSS', generateKeyPairSync('rsa-pss', { modulusLength: 1024 }).privateKey],
    ['DSA', generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 }).privateKey],
    ['Ed448', generateKeyPairSync('ed448').privateKey],
    ['X448', generateKeyPairSync('x448').privateKey],
  ])('a key of a kind that Go does not support is ignored: %s', (_name, key) => {
    const pem = key.export({ format: 'pem', type: 'pkcs8' }).toString()
    expect(call('parse_private_keys', pem)).toBe('an error')
    expect(call('x509.parse_rsa_private_key', pem)).toBe('an error')
  })

  it('an X25519 key shows its numbers only as a JSON Web Key', () => {
    const { privateKey } = generateKeyPairSync('x25519')
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
    expect(call('parse_private_keys', pem)).toBe('[{}]')
    expect(call('x509.parse_rsa_private_key', pem)).toContain('"crv":"X25519"')
  })

  it('bytes after a PKCS #8 key are ignored', () => {
    const whole = call('parse_private_keys', ed)
    const longer = changed(ed, (der) => Buffer.concat([der, Buffer.from([0x99])]))
    expect(call('parse_private_keys', longer)).toBe(whole)
  })

  it('bytes after a PKCS #1 key are an error', () => {
    const pem = createPrivateKey(rsa).export({ format: 'pem', type: 'pkcs1' }).toString()
    expect(call('parse_private_keys', pem)).toContain('"Primes"')
    const longer = changed(pem, (der) => Buffer.concat([der, Buffer.from([0x05, 0x00])]))
    expect(call('parse_private_keys', longer)).toBe('an error')
  })

  it('bytes after the signature of a certificate are ignored', () => {
    const longer = changed(certificate, (der) => {
      const more = Buffer.concat([der, Buffer.from([0x30, 0x7f])])
      more.writeUInt16BE(der.readUInt16BE(2) + 2, 2)
      return more
    })
    expect(call('x509.parse_certificates', longer)).toContain('"Version":3')
  })

  it.each<[string, (der: Buffer) => Buffer]>([
    [
      'another algorithm outside than within',
      (der) => flipped(der.lastIndexOf(Buffer.from('2a8648ce3d0403', 'hex')) + 7)(der),
    ],
    ['a set in the place of the sequence', (der) => Buffer.from([0x31, ...der.subarray(1)])],
    [
      'a point that is not on its curve',
      (der) => flipped(der.indexOf(Buffer.from('03420004', 'hex')) + 10)(der),
    ],
    ['a day that its month has not', (der) => flipped(der.indexOf('261121', 'latin1') + 4)(der)],
    ['a version that nobody has', (der) => flipped(der.indexOf(Buffer.from('a003020102', 'hex')) + 3)(der)],
  ])('a certificate with %s is refused', (_name, change) => {
    expect(call('x509.parse_certificates', certificate)).toContain('"Version":3')
    const damaged = changed(certificate, change)
    expect(damaged).not.toBe(certificate)
    expect(call('x509.parse_certificates', damaged)).toBe('an error')
    const verifying = (pem: string): string =>
      outcomeOf(jwtBuiltins, 'io.jwt.verify_es256', JSON.stringify(['e30.e30.eA', pem]))
    expect(verifying(certificate)).toBe('false')
    expect(verifying(damaged)).toMatch(/^eval_builtin_error: /)
  })

  it('an unterminated BEGIN line starts no block', () => {
    const open = certificate.replace('CERTIFICATE-----', 'CERTIFICATE---|-')
    expect(call('x509.parse_certificates', open)).toBe('[]')
  })
})
