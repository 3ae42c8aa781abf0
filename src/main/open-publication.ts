import { readFileSync } from 'node:fs'

import type { Config } from '../config/config.js'
import { readSecrets } from '../config/read-secrets.js'
import { PublishedBundle } from '../distribution/published-bundle.js'
import { AppError, toError } from '../errors/app-error.js'
import { readSigningKey, type BundleSigner, type Policies } from '../rego/index.js'
import { packInThread } from './threads/load-threads.js'

/**
 * Publishes the policies as `policies.publish` says; undefined if nothing is published. Throws
 * `invalid` for a key that cannot be used.
 */
export function openPublication(config: Config, policies: Policies): PublishedBundle | undefined {
  const { name } = config.policies.publish
  if (name === undefined) return undefined
  const signer = readSigner(config)
  if (signer !== undefined) readSigningKey(signer)
  return new PublishedBundle({
    name,
    policies,
    // The key is read again, so that it can be replaced.
    pack: (contents) => packInThread({ ...contents, signer: readSigner(config) }),
  })
}

function readSigner({ policies: { publish } }: Config): BundleSigner | undefined {
  const { signing } = publish
  if (signing === undefined) return undefined
  const { algorithm, keyId, scope } = signing
  const key =
    'secret' in signing
      ? readSecrets({ policies: { publish } }, process.env)(signing.secret).reveal()
      : readKey(signing.privateKeyFile)
  return { algorithm, key, keyId, scope }
}

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (raw) {
    throw new AppError('invalid', `read policies.publish.signing: ${toError(raw).message}`, { cause: raw })
  }
}
