import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

import type { Config } from '../../config/config.js'
import type { ReadSecret } from '../../config/values/secret.js'
import type { OpaConfig } from '../../distribution/opa-config/read-opa-config.js'
import { AppError, toError } from '../../errors/app-error.js'
import {
  readBundleKey,
  type BundleKey,
  type BundleVerification,
  type SignatureDemand,
} from '../../rego/index.js'

type Demand = Pick<Config['policies']['bundleSigning'], 'keyId' | 'scope' | 'excludeFiles'>

/**
 * How to verify bundles under a configuration, with its keys read. Throws `invalid` for a key that
 * cannot be read, is listed twice or does not fit its algorithm.
 */
export function makeBundleVerification(
  { bundleSigning: config, sources }: Pick<Config['policies'], 'bundleSigning' | 'sources'>,
  readSecret: ReadSecret,
  opa?: Pick<OpaConfig, 'keys' | 'sources'>,
): BundleVerification {
  const keys = new Map<string, BundleKey>()
  for (const configured of config.keys) {
    const { id, algorithm, scope = '' } = configured
    if (keys.has(id)) throw new AppError('invalid', `policies.bundleSigning.keys has two keys named ${id}`)
    const text =
      'secret' in configured ? readSecret(configured.secret).reveal() : readKeyFile(configured.publicKeyFile)
    keys.set(id, { algorithm, key: readBundleKey(id, algorithm, text), scope })
  }
  const demand = ({ keyId, scope, excludeFiles }: Demand): SignatureDemand => ({
    isRequired: config.required ?? (keys.size > 0 || keyId !== undefined),
    ...{ keyId, scope, excludedFiles: excludeFiles },
  })
  return {
    keys: new Map([...(opa?.keys ?? []), ...keys]),
    demandOf: (bundle) =>
      demand(config.bundles.find(({ file }) => resolve(file) === resolve(bundle)) ?? config),
    demandOfSource: (source) => {
      const ofOpa = opa?.sources.find(({ name }) => name === source)?.demand
      if (ofOpa !== undefined) return ofOpa
      const own = sources.find(({ name }) => name === source)
      return demand({
        keyId: own?.keyId ?? config.keyId,
        scope: own?.scope ?? config.scope,
        excludeFiles: own?.excludeFiles ?? config.excludeFiles,
      })
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
