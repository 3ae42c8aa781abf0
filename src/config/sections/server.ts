import { z } from 'zod'

import { byteSize, byteSizeText } from '../values/byte-size.js'
import { key, wholeNumber, wholeNumberText } from '../values/key.js'
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

/** How the service is reached. */
export const ServerSection = z.strictObject({
  addr: key(
    addressText().default('127.0.0.1:8181'),
    'Where to listen: a port, or a socket as `unix:PATH`. Port 0 lets the system choose. Other than loopback and sockets needs `auth.tokens`, `auth.certificates` or `server.insecure`.',
    LISTEN_ADDRESS_TEXT,
  ),
  addresses: key(
    z.array(FurtherAddress).default([]),
    'Where to listen beside `server.addr`, each `{addr, serves, tls}`: `serves` is `all`, or `health` for `/health`, `/livez`, `/readyz` and `/metrics` only, which may be beyond loopback without tokens; `tls: false` is for a port that does not speak TLS where the others do.',
    'a list of {addr, serves, tls}',
  ),
  socketMode: key(
    z
      .string()
      .regex(/^0?[0-7]{3}$/)
      .default('660'),
    'Who may connect to the sockets that `server.addr` and `server.addresses` name, as the mode of a file: owner and group where it is not set.',
    'three octal digits in quotes, such as "660"',
  ),
  tlsCertificate: pemFile(
    'The certificate that callers are shown, with those between it and its authority behind it. Ports speak TLS then. It is read again when it changes.',
  ),
  tlsKey: pemFile('The key of that certificate, not encrypted. It is read again when it changes.'),
  tlsClientCa: pemFile(
    'The authorities of the certificates that callers may show in place of a token (`auth.certificates`). Read again when it changes.',
  ),
  tlsClientCrl: pemFile(
    'What the authorities of `server.tlsClientCa` have revoked: a list (CRL) of each, one behind the other. Read again when it changes. A certificate whose authority has no list that counts is refused, also when a list has ended.',
  ),
  tlsRequireClient: key(
    z.boolean().default(false),
    'Whether a caller without a certificate of `server.tlsClientCa` is refused before it asks anything, and not only where a token or a certificate is needed.',
    'true or false',
  ),
  tlsMinVersion: key(
    z.enum(TLS_VERSIONS).default('1.2'),
    'The oldest version of TLS that callers may speak.',
    TLS_VERSIONS.join(', '),
  ),
  publicUrl: key(
    z.string().refine(isServerUrl).optional(),
    'Where people and the orchestrator reach the service, for the links that it gives out.',
    SERVER_URL_TEXT,
    { isHidden: true },
  ),
  orchestratorUrl: key(
    z.string().refine(isServerUrl).optional(),
    'Where the orchestrator reaches the service, where people reach it elsewhere: for the URLs that its stages are given to call. `server.publicUrl` without it.',
    SERVER_URL_TEXT,
    { isHidden: true },
  ),
  allowedHosts: key(
    z.array(z.string().regex(/^(?:\*|(?:\*\.)?[\w.:-]*\w)$/)).default([]),
    'The names that the service is asked by, as they stand in Host headers without the port; any other is refused. `*.example.org` is every name below one, `*` every name. Loopback, `server.addr`, `server.publicUrl` and `server.orchestratorUrl` are always names of it. Where the list is empty, a service that listens on loopback without tokens takes only these, any other takes every name.',
    'a list of hosts such as tidegate, tidegate.example.org, *.example.org or *',
  ),
  frameAncestors: key(
    z.array(z.string().regex(/^https?:\/\/(?:\*\.)?[\w.-]+(?::\d{1,5})?$/)).default([]),
    "The origins whose pages may show ours in a frame, as the orchestrator's interface does; none by default. An interface of the same origin is listed too.",
    'a list of origins such as https://deck.example.org',
  ),
  maxBodyBytes: key(
    byteSize(KIB, GIB).default(10 * MIB),
    'The largest request body taken; above it the answer is 413.',
    byteSizeText(KIB, GIB),
  ),
  drainSeconds: key(
    wholeNumber(0, MAX_DRAIN_SECONDS).default(10),
    'How long a shutdown waits for running requests, in seconds.',
    wholeNumberText(0, MAX_DRAIN_SECONDS),
  ),
  workers: key(
    wholeNumber(1, MAX_WORKERS).optional(),
    'How many processes decide, over one address and with one store, one decision log and one set of figures. All but the first, which does everything else too, are its children. Where it is not set, there are as many as there are cores that the service may use, 8 at most; with one core there is one.',
    wholeNumberText(1, MAX_WORKERS),
  ),
  insecure: key(
    z.boolean().default(false),
    'Listen beyond loopback without any token or certificate. Whoever reaches the port may do everything.',
    'true or false',
  ),
})
