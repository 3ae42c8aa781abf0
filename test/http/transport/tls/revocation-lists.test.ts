import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'

import { derElementsIn } from '../../../../src/lib/der.js'
import {
  issuerAndNumber,
  readRevocationLists,
  revocationProblem,
} from '../../../../src/http/transport/tls/revocation-lists.js'
import { CertificateAuthority, canMakeCertificates } from '../../../support/certificates.js'
import { makeWorkspace } from '../../../support/workspace.js'

const NOW_MS = 1_000_000
const CERTIFICATE = { problem: undefined, subject: {}, alternativeNames: [], endsAtMs: NOW_MS + 1 }
const good = { issuer: 'a', endsAtMs: NOW_MS + 1, serialNumbers: new Set(['07']) }

describe('a certificate held against lists', () => {
  it.each([
    ['is in none', [good], { issuer: 'a', serialNumber: '08' }, undefined],
    ['is in the list of its authority', [good], { issuer: 'a', serialNumber: '07' }, 'was revoked'],
    [
      'has the number of one of another authority',
      [
        { ...good, issuer: 'b' },
        { ...good, serialNumbers: new Set<string>() },
      ],
      { issuer: 'a', serialNumber: '07' },
      undefined,
    ],
    [
      'has an authority without a list',
      [good],
      { issuer: 'b', serialNumber: '08' },
      'has no revocation list',
    ],
    ['cannot be read', [good], {}, 'has no revocation list'],
    ['has no number that can be read', [good], { issuer: 'a' }, 'was revoked'],
    [
      'has a list that has ended',
      [{ ...good, endsAtMs: NOW_MS }],
      { issuer: 'a', serialNumber: '08' },
      'has expired',
    ],
    [
      'is in a list that has ended',
      [
        { ...good, endsAtMs: 1 },
        { ...good, serialNumbers: new Set<string>() },
      ],
      { issuer: 'a', serialNumber: '07' },
      'was revoked',
    ],
    [
      'has one that has ended next to one that has not',
      [{ ...good, endsAtMs: 1 }, good],
      { issuer: 'a', serialNumber: '08' },
      undefined,
    ],
  ])('that %s', (_, lists, names, problem) => {
    const found = revocationProblem(lists, { ...CERTIFICATE, ...names }, NOW_MS)
    if (problem === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(problem)
  })
})

describe('bytes that are no list', () => {
  it('are refused as such, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const pem = `-----BEGIN X509 CRL-----\n${Buffer.from(bytes).toString('base64')}\n-----END X509 CRL-----\n`
        expect(() => readRevocationLists(pem)).toThrow(Error)
        expect(issuerAndNumber(Buffer.from(bytes))).toBeUndefined()
      }),
      { numRuns: 300 },
    )
    expect(() => readRevocationLists('')).toThrow('no revocation list')
  })

  it('are elements that fill them, or none', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const elements = derElementsIn(Buffer.from(bytes))
        if (elements === undefined) return
        expect(Buffer.concat(elements.map(({ raw }) => raw))).toEqual(Buffer.from(bytes))
      }),
    )
  })
})

describe.skipIf(!canMakeCertificates)('a list that openssl makes', () => {
  const workspace = makeWorkspace()
  afterAll(workspace.remove)

  it('says until when it counts, and what it revokes; none of it counts when it is cut', () => {
    const authority = new CertificateAuthority(workspace.path)
    const files = ['one', 'two'].map((name) => authority.make(name, { subject: `/CN=${name}` }))
    const [one, two] = files.map(({ certificate }) => new X509Certificate(readFileSync(certificate)))
    const endsAt = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000)
    const pem = authority.revoke(files.slice(0, 1), endsAt)
    const [list, more] = readRevocationLists(pem)
    expect([more, list?.endsAtMs]).toEqual([undefined, endsAt.getTime()])
    const outcomes = [one, two].map((each) => {
      const names = each && issuerAndNumber(each.raw)
      return list && names && revocationProblem([list], { ...CERTIFICATE, ...names }, Date.now())
    })
    expect(outcomes).toEqual(['was revoked', undefined])
    const der = Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64')
    for (let length = 0; length < der.length; length += 1) {
      const cut = der.subarray(0, length).toString('base64')
      expect(() => readRevocationLists(`-----BEGIN X509 CRL-----\n${cut}\n-----END X509 CRL-----`)).toThrow(
        Error,
      )
    }
    const empty = readRevocationLists(authority.revoke([], endsAt))
    expect(empty).toMatchObject([{ serialNumbers: new Set() }])
  })
})
