import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

import { latencies } from '../analysis-files.js'
import { FILE_ANALYSIS } from '../file-analysis.js'
import { objectOf, postJson } from '../http-client.js'
import { respondJson, startLoopbackServer } from '../loopback-server.js'
import { PROGRAM, PROJECT_ROOT } from '../project-root.js'
import { runTidegate } from '../run-tidegate.js'
import { startStorageService } from '../storage-service.js'
import { startTidegate } from '../tidegate-process.js'
import { makeWorkspace } from '../workspace.js'

/** The number that the pages take for an instance of a gate. */
const INSTANCE = 17

/**
 * A folder like a reader's: the repository's policies and cases, some files, the program on PATH,
 * and a service that runs on `data`.
 */
export interface ExampleWorld {
  readonly path: string
  readonly url: string
  readonly storageUrl: string
  /** Of the key that checkpoints are signed with. */
  readonly publicKey: string
  readonly env: Readonly<Record<string, string>>
  readonly close: () => Promise<void>
}

export async function makeExampleWorld(): Promise<ExampleWorld> {
  const workspace = makeWorkspace(FILES)
  const { path } = workspace
  for (const name of ['docs', 'policies', 'test']) symlinkSync(join(PROJECT_ROOT, name), join(path, name))
  for (const name of ['tidegate', 'npx']) chmodSync(join(path, 'bin', name), 0o755)
  for (const name of ['dist', 'home/.config/fish/completions'])
    mkdirSync(join(path, name), { recursive: true })
  const { stdout } = await runTidegate(['audit', 'keygen', '--out', 'signing-key'], { cwd: path })
  const publicKey = /MCow[\w+/=]+/.exec(stdout)?.[0] ?? ''
  const storage = await startStorageService({ takesList: false, hasBatch: true })
  const tidegate = await startTidegate({ workspace, config: configuration(path, storage.origin) })
  const receiver = await startLoopbackServer((_request, response) => respondJson(response, 200, {}))
  await openGates(tidegate.url, receiver.origin)
  return {
    ...{ path, url: tidegate.url, storageUrl: storage.origin, publicKey },
    env: {
      PATH: `${join(path, 'bin')}:${process.env['PATH'] ?? ''}`,
      HOME: join(path, 'home'),
      ...(process.env['OPA_BIN'] !== undefined && { OPA_BIN: process.env['OPA_BIN'] }),
    },
    close: async () => {
      await tidegate.end('SIGTERM')
      await Promise.all([storage.close(), receiver.close()])
      workspace.remove()
    },
  }
}

const VERSIONS = { stable: 100, healthy: 100, slow: 140, v1: 100, v2: 101 }
const FILES = {
  'bin/tidegate': `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`,
  'bin/npx': '#!/bin/sh\nexec "$@"\n',
  'release.yaml': 'name: Hotfix\napplication: shop\napprovers: { users: [ana] }\n',
  'tidegate.yaml': 'policies:\n  directories: [policies]\n',
  'definitions/shop.json': JSON.stringify(FILE_ANALYSIS),
  'definitions/cart.json': JSON.stringify({
    ...FILE_ANALYSIS,
    scopes: { baseline: { version: 'stable' }, canary: { version: 'slow' } },
  }),
  ...Object.fromEntries(
    Object.entries(VERSIONS).map(([version, level]) => [`series/${version}.csv`, latencies(level)]),
  ),
}

function configuration(path: string, storageUrl: string) {
  const sources = [{ name: 'files', type: 'file', directory: join(path, 'series') }]
  return {
    audit: { signingKey: { file: join(path, 'signing-key') }, checkpointRecords: 1 },
    callbacks: { allowLoopback: true },
    gates: { definitions: [{ id: 7, name: 'Release', application: 'shop' }] },
    orchestrator: { storageUrl },
    analysis: { sources, definitions: join(path, 'definitions') },
  }
}

/** Enough to include the ones that the pages name. */
async function openGates(url: string, receiverUrl: string): Promise<void> {
  for (let nth = 1; nth <= INSTANCE; nth++) {
    const body = {
      ...{ approvalCallbackURL: `${receiverUrl}/yes`, rejectionCallbackURL: `${receiverUrl}/no` },
      ...{ executionId: `execution-${nth}`, toolConnectorParameters: [] },
    }
    const answer = await postJson(url, '/visibilityservice/v5/approvalGates/7/trigger', body)
    if (objectOf(answer)['id'] !== nth) throw new Error(`no instance ${nth}: ${answer.text}`)
  }
}
