import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { signForAws } from '../../src/analysis/sources/tokens/aws-keys.js'
import { Secret } from '../../src/lib/outbound/credentials.js'
import { findProgram } from './find-program.js'
import { freePort } from './free-port.js'
import { ask } from './http-client.js'
import type { Answered, Asked } from './http-client.js'
import { waitUntil } from './wait-until.js'

/** The registry `distribution`, which Debian calls docker-registry. */
const REGISTRY = findProgram('registry') ?? findProgram('docker-registry')
const OBJECT_STORE = findProgram('versitygw')

/** Suffixes of test names: the reasons for skipping them, if any. */
export const registryNote = REGISTRY ? '' : ' (skipped: no registry here, apt-get install docker-registry)'
export const objectStoreNote = OBJECT_STORE
  ? ''
  : ' (skipped: no versitygw here, go install github.com/versity/versitygw/cmd/versitygw@v1.8.0)'

const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json'
const LAYER_TYPE = 'application/vnd.oci.image.layer.v1.tar+gzip'

interface Store {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** A real registry on loopback. */
export interface Registry extends Store {
  /** Tags an image with one layer. Returns the digest of its manifest. */
  readonly push: (repository: string, tag: string, bundle: Uint8Array) => Promise<string>
}

/** Starts a registry whose authentication is as in its configuration, and pushes with headers. */
export async function startRegistry(
  auth: object,
  authorization: (repository: string) => string,
): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-registry-'))
  const addr = `127.0.0.1:${await freePort()}`
  const file = join(folder, 'config.yml')
  const storage = { filesystem: { rootdirectory: join(folder, 'images') } }
  const log = { level: 'error', accesslog: { disabled: true } }
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ version: 0.1, log, storage, http: { addr }, auth }))
  const store = await startStore(REGISTRY ?? '', ['serve', file], `http://${addr}`, folder)
  const send = async (repository: string, asked: Asked): Promise<Answered> => {
    const headers = { authorization: authorization(repository), ...asked.headers }
    const answer = await ask(store.url, { ...asked, headers })
    if (answer.status >= 300) throw new Error(`${asked.path}: ${answer.status} ${answer.text}`)
    return answer
  }
  const upload = async (repository: string, body: Uint8Array): Promise<object> => {
    const opened = await send(repository, { method: 'POST', path: `/v2/${repository}/blobs/uploads/` })
    const target = new URL(opened.headers.location ?? '', store.url)
    target.searchParams.set('digest', digestOf(body))
    const headers = { 'content-type': 'application/octet-stream' }
    await send(repository, { method: 'PUT', path: `${target.pathname}${target.search}`, headers, body })
    return { digest: digestOf(body), size: body.length }
  }
  return {
    ...store,
    push: async (repository, tag, bundle) => {
      const config = await upload(repository, Buffer.from('{}'))
      const layer = await upload(repository, bundle)
      const body = JSON.stringify({
        ...{ schemaVersion: 2, mediaType: MANIFEST_TYPE },
        config: { mediaType: 'application/vnd.oci.image.config.v1+json', ...config },
        layers: [{ mediaType: LAYER_TYPE, ...layer }],
      })
      const path = `/v2/${repository}/manifests/${tag}`
      await send(repository, { method: 'PUT', path, headers: { 'content-type': MANIFEST_TYPE }, body })
      return digestOf(Buffer.from(body))
    },
  }
}

/** A real S3 server on loopback, which checks the signatures of requests. */
export interface ObjectStore extends Store {
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Creates a bucket (`/bucket`) or stores an object (`/bucket/key`). The path is escaped. */
  readonly put: (path: string, body?: Uint8Array) => Promise<void>
}

export async function startObjectStore(): Promise<ObjectStore> {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-objects-'))
  const [objects, attributes] = [join(folder, 'objects'), join(folder, 'attributes')]
  for (const each of [objects, attributes]) mkdirSync(each)
  const addr = `127.0.0.1:${await freePort()}`
  const [accessKeyId, secretAccessKey, region] = ['AKIDEXAMPLE', 'secret/of+the store', 'eu-central-1']
  const keys = ['--access', accessKeyId, '--secret', secretAccessKey, '--region', region]
  const args = ['--port', addr, ...keys, '--quiet', 'posix', '--sidecar', attributes, objects]
  const store = await startStore(OBJECT_STORE ?? '', args, `http://${addr}`, folder)
  const secret = { accessKeyId, secretAccessKey: new Secret(secretAccessKey), sessionToken: undefined }
  const sign = signForAws(secret, { region, service: 's3' }, Date.now)
  return {
    ...{ ...store, region, accessKeyId, secretAccessKey },
    put: async (path, body = Buffer.alloc(0)) => {
      const request = { method: 'PUT', url: new URL(path, store.url), headers: {}, body } as const
      const answer = await ask(store.url, { method: 'PUT', path, headers: sign(request), body })
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
    },
  }
}

/** Starts a program and waits until its address answers. */
async function startStore(
  program: string,
  args: readonly string[],
  url: string,
  folder: string,
): Promise<Store> {
  const env = { ...process.env, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  const said: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk))
  const ended = new Promise((resolve) => child.once('close', resolve))
  await waitUntil(
    async () => (await ask(url, { path: '/v2/' }).catch(() => undefined))?.status,
    () => `${program} does not serve: ${Buffer.concat(said).toString()}`,
  )
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
