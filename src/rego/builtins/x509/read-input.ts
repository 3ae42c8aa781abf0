import { BuiltinError } from '../shared/builtin.js'
import { decodeGoBase64 } from '../encoding/go-base64.js'
import { readPemBlock } from '../encoding/pem-block.js'
import { parseCertificates } from './certificate.js'
import type { ParsedCertificate } from './certificate.js'

const PEM_START = '-----BEGIN'

/** The certificates of a text: PEM, base64 of PEM, or base64 of DER. Raises BuiltinError on anything else. */
export function readCertificates(text: string): ParsedCertificate[] {
  const pem = asPem(text)
  return parseCertificates(pem === undefined ? decodeGoBase64(text, 'standard') : certificateBlocks(pem))
}

/** The text itself when it is PEM, or what its base64 holds when that is PEM. */
function asPem(text: string): string | undefined {
  if (text.startsWith(PEM_START)) return text
  const decoded = decodeGoBase64(text, 'standard').toString('latin1')
  return decoded.startsWith(PEM_START) ? decoded : undefined
}

function certificateBlocks(pem: string): Buffer {
  const blocks: Buffer[] = []
  for (let block = readPemBlock(pem); block !== undefined; block = readPemBlock(block.rest)) {
    if (block.type !== 'CERTIFICATE') {
      throw new BuiltinError(`PEM block type is '${block.type}', expected CERTIFICATE`)
    }
    blocks.push(block.der)
  }
  return Buffer.concat(blocks)
}

/** The DER of a certificate request: PEM, base64 of PEM, or base64 of DER. */
export function readRequest(text: string): Buffer {
  const bytes = text.startsWith('-----BEGIN CERTIFICATE REQUEST-----')
    ? Buffer.from(text)
    : decodeGoBase64(text, 'standard')
  const block = readPemBlock(bytes.toString('latin1'))
  if (block === undefined) return bytes
  if (block.type === 'CERTIFICATE REQUEST') return block.der
  throw new BuiltinError('invalid PEM-encoded certificate signing request')
}
