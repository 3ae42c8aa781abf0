import { X509Certificate, createPrivateKey } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'

/** What a file holds, and how a person names it: the setting or flag, and the path. */
export interface PemFile {
  readonly name: string
  readonly path: string
  readonly text: string
}

/** The first certificate of a file. Raises `invalid`, with the file, where it holds none. */
export function certificateIn(file: PemFile): X509Certificate {
  try {
    return new X509Certificate(file.text)
  } catch {
    throw unusablePem(file, 'it holds no certificate in PEM')
  }
}

/** The first certificate of a file whose key is in another. Raises `invalid`, with the file that is to blame. */
export function certificateWithKey(certificate: PemFile, key: PemFile): X509Certificate {
  const first = certificateIn(certificate)
  let isOwn: boolean
  try {
    isOwn = first.checkPrivateKey(createPrivateKey(key.text))
  } catch {
    throw unusablePem(key, 'it holds no private key in PEM that can be read without a passphrase')
  }
  if (!isOwn) throw unusablePem(key, `it is not the key of the certificate in ${certificate.path}`)
  return first
}

/** `invalid`: why a file cannot be used. */
export function unusablePem({ name, path }: Omit<PemFile, 'text'>, reason: string): AppError {
  return new AppError('invalid', `${name} (${path}) cannot be used: ${reason}`)
}
