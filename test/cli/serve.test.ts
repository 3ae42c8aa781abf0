import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'

import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

describe('tidegate serve that cannot start', () => {
  const workspace = makeWorkspace({
    'broken/p.rego': 'package p\n\nallow { input.x == }\n',
    'calls/p.rego': 'package p\n\nr := http.send({"url": "http://127.0.0.1"})\n',
    'good/p.rego': 'package p\n\nallow { input.x }\n',
  })
  afterAll(workspace.remove)
  const serve = (...args: readonly string[]): ReturnType<typeof runTidegate> =>
    runTidegate(['serve', '--data-dir', join(workspace.path, 'data'), ...args], {
      cwd: workspace.path,
    })

  it('exits with 2 and names the place when a policy does not compile', async () => {
    const { exitCode, stderr } = await serve('--addr', '127.0.0.1:0', '--policies', 'broken')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/broken\/p\.rego:3:\d+: rego_parse_error: unexpected/)
  })

  it('exits with 2 and names built-in and place when a policy calls one that is not there', async () => {
    const { exitCode, stderr } = await serve('--addr', '127.0.0.1:0', '--policies', 'calls')
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      'calls/p.rego:3:6: missing_builtin: built-in function http.send is not available',
    )
  })

  it('exits with 2 when there are no policies', async () => {
    const { exitCode, stderr } = await serve('--addr', '127.0.0.1:0', '--policies', 'absent')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('absent')
  })

  it('exits with 2 when another program uses the port', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const { exitCode, stderr } = await serve('--addr', `127.0.0.1:${port}`, '--policies', 'good')
    other.close()
    expect(exitCode).toBe(2)
    expect(stderr).toContain('another program uses the port')
  })

  it('says that before it looks at policies and at the data directory', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const dataDir = join(workspace.path, 'never-made')
    const { stderr } = await serve(
      '--addr',
      `127.0.0.1:${port}`,
      '--policies',
      'broken',
      '--data-dir',
      dataDir,
    )
    other.close()
    expect(stderr).toMatch(/^tidegate: cannot listen on [^\n]*another program uses the port[^\n]*\n$/)
    expect(existsSync(dataDir)).toBe(false)
  })

  it('takes the policies of the package only where nobody configured anything', async () => {
    workspace.write({ 'elsewhere/tidegate.json': '{"server": {"addr": "127.0.0.1:0"}}' })
    const elsewhere = join(workspace.path, 'elsewhere')
    const { exitCode, stderr } = await runTidegate(['serve', '--config', 'tidegate.json'], { cwd: elsewhere })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('Directory policies not found, and tidegate.json sets no policies')
    expect(stderr).toContain('Set policies.directories')
  })

  it('exits with 2 beyond loopback without tokens, and says both ways out', async () => {
    const { exitCode, stderr } = await serve('--addr', '0.0.0.0:0', '--policies', 'good')
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/auth\.tokens/)
    expect(stderr).toMatch(/insecure/)
  })
})
