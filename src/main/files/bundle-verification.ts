import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import type { Config } from '../../config/config.js'
import type { ReadSecret } from '../../config/values/secret.js'
import { AppError, toError } from '../../errors/app-error.js'
import { readBundleKey, type BundleKey, type BundleVerification } from '../../rego/index.js'

/**
 * How to verify bundles under a configuration, with its keys read. Throws `invalid` for a key that
 * cannot be read, is listed twice or does not fit its algorithm.
 */
export function makeBundleVerification(
  config: Config['policies']['bundleSigning'],
  readSecret: ReadSecret,
): BundleVerification {
  const keys = new Map<string, BundleKey>()
  for (const configured of config.keys) {
    const { id, algorithm, scope = '' } = configured
    if (keys.has(id)) throw new AppError('invalid', `policies.bundleSigning.keys has two keys named ${id}`)
    const text =
      'secret' in configured ? readSecret(configured.secret).reveal() : readKeyFile(configured.publicKeyFile)
    keys.set(id, { algorithm, key: readBundleKey(id, algorithm, text), scope })
  }
  return {
    keys,
    demandOf: (bundle) => {
      const own = config.bundles.find(({ file }) => resolve(file) === resolve(bundle))
      const { keyId, scope, excludeFiles } = own ?? config
      const isRequired = config.required ?? (keys.size > 0 || keyId !== undefined)
      return { isRequired, keyId, scope, excludedFiles: excludeFiles }
    },
  }
}

/** The files from which keys and secrets are read at each load. */
export function keyFiles({ keys }: Config['policies']['bundleSigning']): string[] {
  return keys.flatMap((key) => {
    if ('publicKeyFile' in key) return [key.publicKeyFile]
    return 'file' in key.secret ? [key.secret.file] : []
  })
}

function readKeyFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (raw) {
    throw new AppError('invalid', `read bundle key: ${toError(raw).message}`, { cause: raw })
  }
}
