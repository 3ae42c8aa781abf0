import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { BuiltinError } from '../shared/builtin.js'
import { readPemBlock } from '../encoding/pem-block.js'

/** DER forms of private keys by the type of their PEM block. */
const FORMS: Readonly<Record<string, 'pkcs1' | 'pkcs8' | 'sec1'>> = {
  'RSA PRIVATE KEY': 'pkcs1',
  'PRIVATE KEY': 'pkcs8',
  'EC PRIVATE KEY': 'sec1',
}

/** The unencrypted private keys among the PEM blocks of a text; raises BuiltinError on a broken one. */
export function readPrivateKeys(pem: string): KeyObject[] {
  const keys: KeyObject[] = []
  for (let block = readPemBlock(pem); block !== undefined; block = readPemBlock(block.rest)) {
    const form = FORMS[block.type]
    if (form !== undefined) keys.push(importPrivateKey(block.der, form))
  }
  return keys
}

/** The private key of a DER text in any of the forms, as Go's crypto/tls tries them. */
export function importAnyPrivateKey(der: Buffer): KeyObject {
  for (const form of ['pkcs1', 'pkcs8', 'sec1'] as const) {
    try {
      return importPrivateKey(der, form)
    } catch (raw) {
      if (!(raw instanceof BuiltinError)) throw raw
    }
  }
  throw new BuiltinError('tls: failed to parse private key')
}

function importPrivateKey(der: Buffer, type: 'pkcs1' | 'pkcs8' | 'sec1'): KeyObject {
  try {
    return createPrivateKey({ key: der, format: 'der', type })
  } catch {
    throw new BuiltinError('x509: failed to parse private key')
  }
}
