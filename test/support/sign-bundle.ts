import { createHmac } from 'node:crypto'

import { hashFile } from '../../src/rego/bundle/signing/verify-bundle.js'
import { packFiles } from './make-bundle.js'

type Files = Readonly<Record<string, string>>

/** A bundle signed with a secret by the key `publisher`, with files changed after that. */
export async function signedBundle(files: Files, secret: string, changed: Files = {}): Promise<Buffer> {
  const listed = Object.entries(files).map(([name, text]) => ({
    name,
    hash: hashFile(name, Buffer.from(text), 'SHA-256').toString('hex'),
    algorithm: 'SHA-256',
  }))
  const parts = [{ alg: 'HS256', kid: 'publisher' }, { files: listed }].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  const signature = createHmac('sha256', secret).update(parts.join('.')).digest('base64url')
  const signatures = JSON.stringify({ signatures: [[...parts, signature].join('.')] })
  return await packFiles({ ...files, ...changed, '.signatures.json': signatures })
}
