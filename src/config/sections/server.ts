import { z } from 'zod'

import { byteSizeKey } from '../values/byte-size.js'
import { booleanKey, key, wholeNumber, wholeNumberKey, wholeNumberText } from '../values/key.js'
import { LISTEN_ADDRESS_TEXT } from './listen-address.js'
import { FurtherAddress, addressText } from './served-addresses.js'
import { isServerUrl, SERVER_URL_TEXT } from '../values/server-url.js'

const KIB = 1024
const MIB = 1024 * KIB
const GIB = 1024 * MIB
const MAX_DRAIN_SECONDS = 3600
const MAX_WORKERS = 256
const TLS_VERSIONS = ['1.2', '1.3'] as const
const pemFile = (description: string) =>
  key(z.string().min(1).optional(), description, 'the path of a PEM file')

export const ServerSection = z.strictObject({
  addr: key(
    addressText().default('127.0.0.1:8181'),
    'Address to listen on: a port, or a Unix socket as `unix:PATH`. Port 0 selects a free port. Addresses other than loopback and sockets require `auth.tokens`, `auth.certificates` or `server.insecure`.',
    LISTEN_ADDRESS_TEXT,
  ),
  addresses: key(
    z.array(FurtherAddress).default([]),
    'Addresses in addition to `server.addr`, each `{addr, serves, tls}`. `serves` is `all`, or `health` for `/health`, `/livez`, `/readyz` and `/metrics` only, which may be beyond loopback without tokens. `tls: false` turns TLS off for one port.',
    'a list of {addr, serves, tls}',
  ),
  socketMode: key(
    z
      .string()
      .regex(/^0?[0-7]{3}$/)
      .default('660'),
    'File mode of the sockets in `server.addr` and `server.addresses`. By default owner and group may connect.',
    'three octal digits in quotes, such as "660"',
  ),
  tlsCertificate: pemFile(
    'The server certificate, followed by its intermediate certificates. Turns TLS on for all ports. Read again when it changes.',
  ),
  tlsKey: pemFile('The unencrypted key of that certificate. Read again when it changes.'),
  tlsClientCa: pemFile(
    'Authorities of client certificates, which may replace tokens (`auth.certificates`). Read again when it changes.',
  ),
  tlsClientCrl: pemFile(
    'Revocation lists (CRL) of the authorities in `server.tlsClientCa`, concatenated. Read again when it changes. A certificate whose authority has no valid list is refused, also after a list has expired.',
  ),
  tlsRequireClient: booleanKey(
    false,
    'Whether clients without a certificate of `server.tlsClientCa` are refused during the TLS handshake, not only for requests that need a token or a certificate.',
  ),
  tlsMinVersion: key(
    z.enum(TLS_VERSIONS).default('1.2'),
    'The oldest TLS version that clients may use.',
    TLS_VERSIONS.join(', '),
  ),
  publicUrl: key(
    z.string().refine(isServerUrl).optional(),
    'URL under which people and the orchestrator reach the service. Used in links.',
    SERVER_URL_TEXT,
    { isHidden: true },
  ),
  orchestratorUrl: key(
    z.string().refine(isServerUrl).optional(),
    'URL under which the orchestrator reaches the service, if it differs from `server.publicUrl`. Used in URLs that its stages call.',
    SERVER_URL_TEXT,
    { isHidden: true },
  ),
  allowedHosts: key(
    z.array(z.string().regex(/^(?:\*|(?:\*\.)?[\w.:-]*\w)$/)).default([]),
    'Host names of the service, as in Host headers without the port. Other names are refused. `*.example.org` matches every name below one, `*` every name. Loopback, `server.addr`, `server.publicUrl` and `server.orchestratorUrl` are always allowed. If the list is empty, a service on loopback without tokens allows only these, and any other service allows every name.',
    'a list of hosts such as tidegate, tidegate.example.org, *.example.org or *',
  ),
  frameAncestors: key(
    z.array(z.string().regex(/^https?:\/\/(?:\*\.)?[\w.-]+(?::\d{1,5})?$/)).default([]),
    "Origins whose pages may embed Tidegate's pages in a frame, such as the orchestrator's interface. None by default. The same origin must be listed too.",
    'a list of origins such as https://deck.example.org',
  ),
  maxBodyBytes: byteSizeKey(
    { min: KIB, max: GIB, default: 10 * MIB },
    'The largest request body. Larger ones are answered with 413.',
  ),
  drainSeconds: wholeNumberKey(
    { min: 0, max: MAX_DRAIN_SECONDS, default: 10 },
    'How long a shutdown waits for running requests, in seconds.',
  ),
  workers: key(
    wholeNumber(1, MAX_WORKERS).optional(),
    'Number of processes that decide. They share addresses, store, decision log and metrics. The first one also does everything else; the others are its children. By default one per available core, at most 8.',
    wholeNumberText(1, MAX_WORKERS),
  ),
  insecure: booleanKey(
    false,
    'Listen beyond loopback without any token or certificate. Anyone who reaches the port may do everything.',
  ),
})
