import { contextTag, membersOf, oidOf, sequenceOf } from './der.js'
import type { DerNode } from './der.js'

/** Go's x509.SignatureAlgorithm numbers by object identifier. */
const SIGNATURES: Readonly<Record<string, number>> = {
  '1.2.840.113549.1.1.2': 1,
  '1.2.840.113549.1.1.4': 2,
  '1.2.840.113549.1.1.5': 3,
  '1.3.14.3.2.29': 3,
  '1.2.840.113549.1.1.11': 4,
  '1.2.840.113549.1.1.12': 5,
  '1.2.840.113549.1.1.13': 6,
  '1.2.840.10040.4.3': 7,
  '2.16.840.1.101.3.4.3.2': 8,
  '1.2.840.10045.4.1': 9,
  '1.2.840.10045.4.3.2': 10,
  '1.2.840.10045.4.3.3': 11,
  '1.2.840.10045.4.3.4': 12,
  '1.3.101.112': 16,
}
const RSA_PSS = '1.2.840.113549.1.1.10'
/** Go's numbers for RSA-PSS by hash. */
const PSS_HASHES: Readonly<Record<string, number>> = {
  '2.16.840.1.101.3.4.2.1': 13,
  '2.16.840.1.101.3.4.2.2': 14,
  '2.16.840.1.101.3.4.2.3': 15,
}
/** Object identifiers of key types (RFC 3279, RFC 5480, RFC 8410). */
export const KEY_OID = {
  rsa: '1.2.840.113549.1.1.1',
  dsa: '1.2.840.10040.4.1',
  ec: '1.2.840.10045.2.1',
  x25519: '1.3.101.110',
  ed25519: '1.3.101.112',
} as const
/** Go's x509.PublicKeyAlgorithm numbers. */
const PUBLIC_KEYS: Readonly<Record<string, number>> = {
  [KEY_OID.rsa]: 1,
  [KEY_OID.dsa]: 2,
  [KEY_OID.ec]: 3,
  [KEY_OID.ed25519]: 4,
}

export function signatureAlgorithm(identifier: DerNode | undefined): number {
  const [oid, parameters] = sequenceOf(identifier)
  const id = oidOf(oid)
  return id === RSA_PSS ? (PSS_HASHES[pssHash(parameters)] ?? 0) : (SIGNATURES[id] ?? 0)
}

function pssHash(parameters: DerNode | undefined): string {
  const hash = membersOf(parameters).find(({ tag }) => tag === contextTag(0, 'constructed'))
  return hash === undefined ? '' : oidOf(membersOf(membersOf(hash)[0])[0])
}

/** Returns Go's number of a public key algorithm; 0 if it is unknown. */
export function publicKeyAlgorithm(info: DerNode | undefined): number {
  return PUBLIC_KEYS[oidOf(sequenceOf(sequenceOf(info)[0])[0])] ?? 0
}
