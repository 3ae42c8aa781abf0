import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { BuiltinError } from '../../../../src/rego/builtins/shared/builtin.js'
import { x509Builtins } from '../../../../src/rego/builtins/x509/x509.js'
import { outcomeOf } from '../../../support/builtin-outcome.js'
import { readStoredOutcomes } from '../../../support/stored-outcomes.js'
import { generousMeter } from '../../../support/generous-meter.js'

/** All stored certificates are valid at this time except the expired one. */
const NOW_NS = 1_800_000_000_000_000_000n

/** The names up a verified chain; `none` for an unverified one. */
function chainNames(outcome: string): string {
  const [verified, chain] = JSON.parse(outcome) as [boolean, { Subject: { CommonName: string } }[]]
  return verified ? chain.map(({ Subject }) => Subject.CommonName).join(' < ') : 'none'
}

describe('X.509 texts', () => {
  it.each(readStoredOutcomes('x509').map((stored, index) => ({ stored, index })))(
    'have the outcome of OPA in case $index: $stored.0 gives $stored.2',
    ({ stored: [builtin, args, wanted] }) => {
      expect(outcomeOf(x509Builtins, builtin, args, NOW_NS)).toBe(wanted)
    },
  )

  it('that are damaged only raise built-in errors', () => {
    const args =
      readStoredOutcomes('x509').find(([, , outcome]) => outcome.includes('rich.example.com'))?.[1] ?? ''
    const [pem] = JSON.parse(args) as [string]
    const der = Buffer.from(pem.replaceAll(/-.*-\n/g, ''), 'base64')
    for (let round = 0; round < 400; round++) {
      const random = createHash('sha256').update(String(round)).digest()
      const damaged = Buffer.from(der)
      damaged[random.readUInt16BE(0) % der.length] = random.readUInt8(2)
      expect(() =>
        outcomeOf(
          x509Builtins,
          'crypto.x509.parse_certificates',
          JSON.stringify([damaged.toString('base64')]),
        ),
      ).not.toThrow()
    }
  })

  it('with broken keys or requests are built-in errors', () => {
    const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'
    const call = (builtin: string, text: string) => () =>
      x509Builtins[builtin]?.([text], { nowNs: 0n, memo: new Map(), meter: generousMeter() })
    expect(call('crypto.parse_private_keys', broken)).toThrow(BuiltinError)
    expect(call('crypto.x509.parse_rsa_private_key', broken)).toThrow(BuiltinError)
    expect(call('crypto.x509.parse_certificate_request', 'AAAA')).toThrow(BuiltinError)
  })
})

describe('certificate chains', () => {
  it.each(readStoredOutcomes('x509-chains').map((stored, index) => ({ stored, index })))(
    'verify as in OPA 0.70 in case $index: $stored.2',
    ({ stored: [builtin, args, wanted] }) => {
      expect(chainNames(outcomeOf(x509Builtins, builtin, args, NOW_NS))).toBe(wanted)
    },
  )
})
