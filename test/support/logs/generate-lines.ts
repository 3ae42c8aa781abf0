import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'

import { groupingQuality, clusterLines } from './cluster-lines.js'
import type { GroupingQuality } from './cluster-lines.js'
import { seededRandom } from '../../../src/canary/judge/series/seeded-random.js'

const PARTS = ['tuned', 'held', 'fresh', 'unseen', 'blind', 'last'] as const
const Systems = z.record(z.enum(PARTS), z.record(z.string(), z.array(z.string()).min(2)))

/** How well the lines of a made-up system are grouped, and whether rules were tuned on it. */
export interface MeasuredSystem extends GroupingQuality {
  readonly part: (typeof PARTS)[number]
  readonly name: string
}

/** Groups `count` lines of each system in a file of `test/cases`. */
export function measureSystems(file: string | URL, count: number, seed: number): MeasuredSystem[] {
  const systems = Systems.parse(parse(readFileSync(file, 'utf8')))
  return PARTS.flatMap((part) =>
    Object.entries(systems[part]).map(([name, messages]) => {
      const labelled = generateLines(messages, count, seededRandom(seed))
      const lines = labelled.map(({ line }) => line)
      const truth = labelled.map(({ event }) => event)
      return { part, name, ...groupingQuality(lines, clusterLines(lines), truth) }
    }),
  )
}

/** A line of a made-up system, and which kind of message it is. */
interface LabelledLine {
  readonly line: string
  readonly event: string
}

type Random = () => number
type Make = (random: Random) => string

const whole =
  (most: number, least = 0): Make =>
  (random) =>
    String(least + Math.floor(random() ** 2 * (most - least)))
const either =
  (...choices: readonly string[]): Make =>
  (random) =>
    choices[Math.floor(random() * choices.length)] ?? ''
const hex =
  (length: number): Make =>
  (random) =>
    Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('')
/** The first one, but for so large a share of lines. */
const mostly =
  (usual: Make, odd: Make, share = 0.05): Make =>
  (random) =>
    (random() < share ? odd : usual)(random)
const text =
  (template: string): Make =>
  (random) =>
    fill(template, random)

const names = (list: string): Make => either(...list.split(' '))

/** Generators of the values in messages. */
const VALUES: Readonly<Record<string, Make>> = {
  int: whole(1_000_000),
  int1: whole(9, 1),
  int2: whole(99, 1),
  port: whole(60_999, 1024),
  float: (random) => (random() * 100).toFixed(2),
  bool: either('true', 'false'),
  hex4: hex(4),
  hex6: hex(6),
  hex7: hex(7),
  hex8: hex(8),
  hex12: hex(12),
  hex16: hex(16),
  hex40: hex(40),
  hex64: hex(64),
  uuid: text('<hex8>-<hex12>'),
  id22: (random) => Buffer.from(hex(33)(random), 'hex').toString('base64url').slice(0, 22),
  ulid: (random) => `01J${hex(23)(random).toUpperCase()}`,
  queueid: (random) => hex(11)(random).toUpperCase(),
  version: text('<int1>.<int1>'),
  ip: text('10.<int2>.<int2>.<int2>'),
  ipport: text('<ip>:<port>'),
  ipslash: text('/<ip>'),
  host: names(
    'shop.example.com api.example.com www.example.org cdn.example.net internal.example.io mail.example.de',
  ),
  mailhost: text('<host>'),
  hostport: mostly(text('<ip>:<port>'), text('<localhost|broker|primary|shop-db>:<port>')),
  hostslash: mostly(text('/<ip>:<port>'), text('<localhost|shop-db.internal>/<ip>:<port>')),
  url: text('https://<host><path>'),
  path: text('/<srv|api|var|data|shop>/<word><|/<word>|/<int>|/<word>/<int>>'),
  view: text('<orders|carts|users|products>/<index|show|edit|_row>.html.erb'),
  method: mostly(either('GET'), either('POST', 'PUT', 'DELETE', 'PATCH'), 0.3),
  email: text('<user>@<host>'),
  user: names(
    'alice bob carol dave erin frank grace heidi ivan judy mallory niaj olivia peggy rupert sybil trent victor',
  ),
  word: names(
    'orders carts users stock billing search media audit mail report export import session token settings',
  ),
  table: names(
    'orders carts customers order_items stock_levels invoices payments sessions events audit_log products',
  ),
  db: names('shop billing search audit reporting'),
  field: names('email created_at customerId sku status orderId'),
  bean: names('shopProperties cacheConfig meterRegistry dataSource transactionManager objectMapper'),
  class: names(
    'com.example.shop.ShopProperties com.example.cache.CacheConfig org.springframework.boot.Binder com.example.db.Pool',
  ),
  service: names('checkout cart billing stock search mailer gateway media-worker reports'),
  cluster: text('outbound|<port>||<service>.<ns>.svc.cluster.local'),
  listener: text('<ip>_<port>'),
  node: text('<node|worker|ip-10-0>-<int2>'),
  ns: names('default kube-system shop monitoring ingress payments'),
  pod: text('<service>-<hex8>-<hex6>'),
  topic: names('orders order-events payments stock.updates mail-queue audit clicks page_views'),
  index: text('<logs|metrics|shop|audit>-2026.11.<int2>'),
  step: names(
    'hot/rollover/check-rollover-ready warm/shrink/complete delete/wait-for-shard-history hot/complete/complete',
  ),
  flag: names('new-checkout dark_mode fastSearch gift-cards one_click'),
  job: names('nightlyReport cleanup-carts sync_stock send-invoices reindex rotateKeys expire-sessions'),
  task: names('send_mail sync_stock rebuild_index charge_card make_report expire_carts'),
  unit: text(
    '<nginx|ssh|cron|docker|shop-api|postgresql|logrotate|fstrim|apt-daily|snapd>.<service|timer|socket>',
  ),
  unitname: either(
    ...[
      'Daily apt upgrade and clean activities',
      'Rotate log files',
      'OpenBSD Secure Shell server',
      'Docker Application Container Engine',
    ],
    ...[
      'Discard unused blocks',
      'Network Manager',
      'Regular background program processing daemon',
      'PostgreSQL RDBMS',
      'Shop API',
      'Cleanup of Temporary Directories',
    ],
  ),
  procname: names('java node postgres chrome python3 mysqld'),
  dev: text('<sd|nvme0n|eth|vd><int1>'),
  city: either('Berlin', 'Paris', 'New York', 'Madrid', 'Oslo', 'San Jose', 'Rome', 'Lisbon', 'Vienna'),
  subject: either('Your order', 'Welcome!', 'Reset your password', 'We miss you', 'Invoice 17 of May'),
  Alert: names('HighErrorRate InstanceDown DiskWillFill PodCrashLooping LatencyHigh'),
  size: mostly(text('<float> MiB'), text('<float> KiB'), 0.4),
  godur: mostly(text('<float>ms'), text('<float>s'), 0.2),
  clock: text('0:<two>:<two>.<int2>'),
  two: (random) => String(10 + Math.floor(random() * 49)),
  date: text(`2026-11-<two> 08:<two>:<two> +0000`),
  iface: text('<GigabitEthernet|TenGigabitEthernet|Port-channel|Vlan><int1><|/0/<int2>>'),
  printer: names('office-2 Warehouse_Labels hall backoffice ReceptionColor'),
  player: names('Alice_99 bobTheMiner carol Dave2010 xXerinXx frank_ grace Heidi'),
  winhost: names('SHOP-DC1 WEB03 SQL-PROD BUILD7 FRONT-12'),
  winexe: text(
    'C:\\<Windows|Program Files|Shop>\\<System32|Bin|Tools>\\<svchost|w3wp|shop|java|powershell>.exe',
  ),
  winpath: text('D:\\<Data|Backup|Logs>\\<db>_<int>.<mdf|ldf|bak>'),
  winservice: either(
    ...['Windows Update', 'Print Spooler', 'Shop Order Import', 'World Wide Web Publishing Service'],
    ...['SQL Server (MSSQLSERVER)', 'Windows Time', 'BITS', 'Remote Registry'],
  ),
  lt: either('<'),
  gt: either('>'),
}

/**
 * Methods and states in capitals distinguish kinds of messages, as in the labels of Loghub. `YES`
 * and names do not.
 */
const TELLING_VALUE = /^(?:(?!(?:YES|INBOX|BITS|SHOP)$)[A-Z][A-Z_]{2,}|UP|IO)$/

/**
 * Fills the placeholders of a template: `<name>`, `<one|another>`, or `<!one|another>` if the
 * choices are kinds of messages. A chosen text is filled too.
 */
function fill(template: string, random: Random, told: string[] = []): string {
  let filled = ''
  for (let at = 0; at < template.length; at += 1) {
    if (template.charAt(at) !== '<') {
      filled += template.charAt(at)
      continue
    }
    const end = closing(template, at)
    const marked = template.slice(at + 1, end)
    const inner = marked.replace(/^!/, '')
    const choices = split(inner)
    const make = VALUES[inner]
    const chosen = choices[Math.floor(random() * choices.length)] ?? ''
    const value = make === undefined ? fill(chosen, random, told) : make(random)
    filled += value
    if (marked !== inner) told.push(chosen)
    else if (TELLING_VALUE.test(value)) told.push(value)
    at = end
  }
  return filled
}

function closing(template: string, start: number): number {
  let depth = 0
  for (let at = start; at < template.length; at += 1) {
    if (template.charAt(at) === '<') depth += 1
    if (template.charAt(at) === '>') depth -= 1
    if (depth === 0) return at
  }
  throw new RangeError(`a place is not closed in ${template}`)
}

function split(inner: string): string[] {
  const choices = ['']
  let depth = 0
  for (const character of inner) {
    if (character === '<') depth += 1
    if (character === '>') depth -= 1
    if (character === '|' && depth === 0) choices.push('')
    else choices.push(`${choices.pop() ?? ''}${character}`)
  }
  return choices
}

/**
 * About `count` lines of a system. Its first messages are the most frequent, and each occurs at
 * least twice.
 */
function generateLines(messages: readonly string[], count: number, random: Random): LabelledLine[] {
  const weights = messages.map((_, rank) => 1 / (rank + 1))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const lines = messages.flatMap((message, rank) => {
    const times = Math.max(2, Math.round((count * (weights[rank] ?? 0)) / total))
    return Array.from({ length: times }, () => {
      const told: string[] = []
      const line = fill(message, random, told)
      return { line, event: [message, ...told].join(' | ') }
    })
  })
  return lines
    .map((line) => ({ line, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ line }) => line)
}
