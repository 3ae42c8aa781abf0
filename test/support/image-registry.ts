import { createHash } from 'node:crypto'

import { respondJson, startLoopbackServer } from './loopback-server.js'
import type { LoopbackServer, SeenRequest } from './loopback-server.js'

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'

/** A registry of OCI images with one repository, in the shapes of the distribution specification. */
export interface ImageRegistry {
  readonly url: string
  readonly seen: readonly SeenRequest[]
  /** Tags an image whose layers are bundles, as the policy CLI and `oras push` make it. */
  readonly push: (tag: string, ...bundles: readonly Uint8Array[]) => void
  /** Sends other bytes for every layer. */
  readonly swapLayers: (bytes: Uint8Array) => void
  readonly close: LoopbackServer['close']
}

export const digestOf = (bytes: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** `realm` is the token server that challenges name; without it no token is needed. */
export async function startImageRegistry(
  repository: string,
  realm?: (own: string) => string,
): Promise<ImageRegistry> {
  const blobs = new Map<string, Uint8Array>()
  const manifests = new Map<string, string>()
  let swapped: Uint8Array | undefined
  const server = await startLoopbackServer(({ url, headers, method }, response) => {
    const own = `http://127.0.0.1:${server.port}`
    if (url.startsWith('/token')) {
      const basic = `Basic ${Buffer.from('user:password').toString('base64')}`
      if (headers['authorization'] === basic) respondJson(response, 200, { token: 'granted' })
      else respondJson(response, 401, {})
      return
    }
    if (realm !== undefined && headers['authorization'] !== 'Bearer granted') {
      const scope = `repository:${repository}:pull`
      const challenge = `Bearer realm="${realm(own)}",service="registry",scope="${scope}"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return
    }
    const [kind = '', name = ''] = url.replace(`/v2/${repository}/`, '').split('/')
    const manifest = kind === 'manifests' ? manifests.get(name) : undefined
    const stored = kind === 'blobs' ? blobs.get(name) : undefined
    const blob = stored && (swapped ?? stored)
    const bytes = manifest === undefined ? blob : Buffer.from(manifest)
    if (bytes === undefined) {
      respondJson(response, 404, { errors: [{ code: 'MANIFEST_UNKNOWN' }] })
      return
    }
    const type = manifest === undefined ? 'application/octet-stream' : MANIFEST_TYPE
    const digest = manifest === undefined ? name : digestOf(manifest)
    const head = { 'content-type': type, 'content-length': bytes.length, 'docker-content-digest': digest }
    response.writeHead(200, head).end(method === 'HEAD' ? undefined : bytes)
  })
  return {
    url: server.origin,
    seen: server.seen,
    push: (tag, ...bundles) => {
      const config = Buffer.from('{}')
      for (const bytes of [config, ...bundles]) blobs.set(digestOf(bytes), bytes)
      const manifest = JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        config: {
          mediaType: 'application/vnd.oci.image.config.v1+json',
          digest: digestOf(config),
          size: config.length,
        },
        layers: bundles.map((bytes) => ({
          mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
          digest: digestOf(bytes),
          size: bytes.length,
          annotations: { 'org.opencontainers.image.title': 'bundle.tar.gz' },
        })),
      })
      manifests.set(tag, manifest)
      manifests.set(digestOf(manifest), manifest)
    },
    swapLayers: (bytes) => (swapped = bytes),
    close: server.close,
  }
}
