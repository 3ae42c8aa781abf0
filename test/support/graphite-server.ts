import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from './free-port.js'
import { ask } from './http-client.js'
import { waitUntil } from './wait-until.js'

/** Debian's own, for which graphite-web is packaged. */
const PYTHON = '/usr/bin/python3'
const isInstalled = spawnSync(PYTHON, ['-c', 'import django, whisper, graphite.settings']).status === 0

/** Suffix of a test name: the reason for skipping it, if any. */
export const graphiteNote = isInstalled ? '' : ' (skipped: no Graphite here, apt-get install graphite-web)'
export const hasGraphite = isInstalled

const SETTINGS = `
import os
from graphite.settings import *
BASE = os.environ['GRAPHITE_TEST_DIR']
SECRET_KEY = 'of the tests'
STORAGE_DIR = BASE
WHISPER_DIR = os.path.join(BASE, 'whisper')
STANDARD_DIRS = [WHISPER_DIR]
INDEX_FILE = os.path.join(BASE, 'index')
LOG_DIR = os.path.join(BASE, 'log')
CARBONLINK_HOSTS = []
TIME_ZONE = 'UTC'
ALLOWED_HOSTS = ['*']
DATABASES = {'default': {'NAME': os.path.join(BASE, 'graphite.db'), 'ENGINE': 'django.db.backends.sqlite3'}}
`
const FILL = `
import json, os, sys, whisper
for path, points in json.load(sys.stdin).items():
    os.makedirs(os.path.dirname(path), exist_ok=True)
    whisper.create(path, [(60, 1440)])
    whisper.update_many(path, points)
`

/**
 * A real Graphite on a free port of loopback, with series of one value a minute: `[seconds, value]`
 * by name, `shop.latency`.
 */
export async function startGraphite(
  series: Readonly<Record<string, readonly (readonly [number, number])[]>>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-graphite-'))
  mkdirSync(join(directory, 'log'))
  writeFileSync(join(directory, 'test_settings.py'), SETTINGS)
  const files = Object.fromEntries(
    Object.entries(series).map(([name, points]) => [
      join(directory, 'whisper', `${name.replaceAll('.', '/')}.wsp`),
      points,
    ]),
  )
  execFileSync(PYTHON, ['-c', FILL], { input: JSON.stringify(files) })
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(PYTHON, ['-m', 'django', 'runserver', '--noreload', address], {
    stdio: 'ignore',
    env: {
      ...{ GRAPHITE_TEST_DIR: directory, PYTHONPATH: directory, PYTHONDONTWRITEBYTECODE: '1' },
      DJANGO_SETTINGS_MODULE: 'test_settings',
    },
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const url = `http://${address}`
  await waitUntil(
    async () => {
      const reply = await ask(url, { path: '/version/' }).catch(() => undefined)
      return reply?.status === 200 ? true : undefined
    },
    () => 'Graphite does not serve',
  )
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
