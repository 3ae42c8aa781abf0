import { X509Certificate, createPrivateKey } from 'node:crypto'

import { AppError } from '../../errors/app-error.js'

/** A file and its name for error messages: the setting or flag, and the path. */
export interface PemFile {
  readonly name: string
  readonly path: string
  readonly text: string
}

/**
 * Reads the first certificate of a file. Throws `invalid`, naming the file, if it contains none.
 */
export function certificateIn(file: PemFile): X509Certificate {
  try {
    return new X509Certificate(file.text)
  } catch {
    throw unusablePem(file, 'it contains no PEM certificate')
  }
}

/**
 * Reads the first certificate of a file and checks that the key matches. Throws `invalid` and names
 * the wrong file.
 */
export function certificateWithKey(certificate: PemFile, key: PemFile): X509Certificate {
  const first = certificateIn(certificate)
  let isOwn: boolean
  try {
    isOwn = first.checkPrivateKey(createPrivateKey(key.text))
  } catch {
    throw unusablePem(key, 'it contains no PEM private key that is readable without a passphrase')
  }
  if (!isOwn) throw unusablePem(key, `it is not the private key of the certificate in ${certificate.path}`)
  return first
}

/** Returns an `invalid` error that says why a file cannot be used. */
export function unusablePem({ name, path }: Omit<PemFile, 'text'>, reason: string): AppError {
  return new AppError('invalid', `${name} (${path}) cannot be used: ${reason}`)
}
