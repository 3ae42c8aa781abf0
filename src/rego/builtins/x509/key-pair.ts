import { createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { RegoObject } from '../../values/value.js'
import { BuiltinError } from '../shared/builtin.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { readPemBlock } from '../encoding/pem-block.js'
import type { PemBlock } from '../encoding/pem-block.js'
import { parseCertificates } from './certificate.js'
import { malformed } from './der.js'
import { goCertificate, withoutUriStrings } from './go-certificate.js'
import { base64Of } from './go-values.js'
import { goPrivateKey, importPublicKey } from './keys.js'
import { importAnyPrivateKey } from './private-keys.js'

const BEGIN = '-----BEGIN '
const CERTIFICATE = 'CERTIFICATE'

type Block = Pick<PemBlock, 'type' | 'der'>

/** A certificate chain and the private key of its first, with the fields of Go's tls.Certificate. */
export function goKeyPair(certificateText: string, keyText: string): RegoObject {
  const certificateBlocks = readBlocks(certificateText, CERTIFICATE)
  const keyBlocks = readBlocks(keyText, 'PRIVATE KEY')
  const chain = certificateBlocks.filter(({ type }) => type === CERTIFICATE).map(({ der }) => der)
  const [leafDer] = chain
  if (leafDer === undefined) throw new BuiltinError(missingCertificate(certificateBlocks))
  const keyDer = keyBlocks.find(isPrivateKey)?.der
  if (keyDer === undefined) throw new BuiltinError(missingKey(keyBlocks))

  const [leaf] = parseCertificates(leafDer)
  if (leaf === undefined) throw malformed()
  const key = importAnyPrivateKey(keyDer)
  checkPair(key, leaf.publicKeyInfo.raw)
  return RegoObject.fromRecord({
    Certificate: chain.map(base64Of),
    PrivateKey: goPrivateKey(key),
    Leaf: withoutUriStrings(goCertificate(leaf)),
    OCSPStaple: null,
    SignedCertificateTimestamps: null,
    SupportedSignatureAlgorithms: null,
  })
}

/** A text that is not PEM is base64, of PEM or of one block's DER. */
function readBlocks(text: string, typeOfDer: string): Block[] {
  const bytes = text.startsWith(BEGIN) ? Buffer.from(text) : decodeGoBase64(text, 'standard')
  const pem = bytes.toString('latin1')
  if (!pem.startsWith(BEGIN)) return [{ type: typeOfDer, der: bytes }]
  const blocks: Block[] = []
  for (let block = readPemBlock(pem); block !== undefined; block = readPemBlock(block.rest))
    blocks.push(block)
  return blocks
}

function isPrivateKey({ type }: Block): boolean {
  return type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY')
}

function missingCertificate(blocks: readonly Block[]): string {
  const [first] = blocks
  if (first === undefined) return 'tls: failed to find any PEM data in certificate input'
  const spoken = blocks.map(({ type }) => type).join(' ')
  return blocks.length === 1 && isPrivateKey(first)
    ? 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
    : `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${spoken}]`
}

function missingKey(blocks: readonly Block[]): string {
  const [first] = blocks
  if (first === undefined) return 'tls: failed to find any PEM data in key input'
  const spoken = blocks.map(({ type }) => type).join(' ')
  return blocks.length === 1 && first.type === CERTIFICATE
    ? 'tls: found a certificate rather than a key in the PEM for the private key'
    : `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${spoken}]`
}

function checkPair(key: KeyObject, publicKeyInfo: Buffer): void {
  const wanted = importPublicKey(publicKeyInfo)
  if (wanted.asymmetricKeyType !== key.asymmetricKeyType) {
    throw new BuiltinError('tls: private key type does not match public key type')
  }
  if (!createPublicKey(key).equals(wanted))
    throw new BuiltinError('tls: private key does not match public key')
}
