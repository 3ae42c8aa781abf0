const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/**
 * The kind of a word that is a value depending on its neighbours. `date`: a part of a written date
 * (RFC 5322 section 3.3, and in full). `time`: a word after a time of day. `truth`: everywhere.
 * `state`: where a value is expected.
 */
export type ContextKind = 'date' | 'time' | 'truth' | 'state'

const CONTEXT_KINDS: Readonly<Record<ContextKind, string>> = {
  date: `Mon Tue Wed Thu Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec January February March April June July August September
    October November December`,
  time: 'AM PM am pm UTC GMT EST EDT CST CDT MST MDT PST PDT CET CEST BST',
  truth: 'true false True False TRUE FALSE',
  state: 'on off yes no Yes No null none nil undefined NaN ON OFF YES NO None NULL',
}

/** Words that are values depending on their neighbours, with their kind. */
export const CONTEXT_WORDS: ReadonlyMap<string, ContextKind> = new Map(
  (Object.keys(CONTEXT_KINDS) as ContextKind[]).flatMap((kind) =>
    CONTEXT_KINDS[kind].split(/\s+/).map((word) => [word, kind] as const),
  ),
)

/**
 * Units that a program chooses by the size of the number: `8.8 KB` and `1.2 MB` are values of the
 * same kind.
 */
export const UNITS = words(
  `B KB MB GB TB PB KiB MiB GiB TiB kB kb mb gb bytes byte
   ns us µs ms s sec secs second seconds min mins minute minutes h hr hrs hour hours days day`,
)

/** Names of protocols, formats and methods: `IPv4` and `IPv6` are not values. In lower case. */
export const TERMS_WITH_DIGITS = words(
  `ipv4 ipv6 http2 http3 socks4 socks4a socks5 oauth2 pop3 smb1 smb2 smb3 nfs3 nfs4 nfsv3 nfsv4 sslv2 sslv3 x509 icmpv6
   dhcpv4 dhcpv6 udp4 udp6 tcp4 tcp6 md4 md5 sha1 sha224 sha256 sha384 sha512 crc32 base32 base64 utf8 utf16 utf-8 utf-16
   log4j slf4j i18n l10n k8s`,
)

/** Last labels of host names that are no file extensions and no packages of a program. */
export const HOST_ENDINGS = words(
  `com net org edu gov mil int info biz io dev app cloud local lan internal localdomain cluster svc
   de uk fr nl it es pt pl ru cn jp kr tw hk sg in au nz br mx ar ca us eu ch at be se no dk fi cz hu ro gr tr il za`,
)

/** First labels of reversed host names, as programs name packages by. */
export const PACKAGE_BEGINNINGS = words(
  'com org net edu gov io android java javax kotlin scala sun akka de uk',
)

/** Nouns that are followed by a name. */
export const NAMING_WORDS = words(
  `user users username account login host hostname node server client peer member group role tenant project namespace pod
   container image file directory folder device disk volume interface driver module service process program job
   task queue topic table index database schema key class method package plugin component application app bundle
   domain flag feature name named called for mailbox operator bucket stream shard replica cluster repository branch`,
)

/** Nouns that are followed by a quoted name (`channel 'shop'`). */
export const QUOTED_BY: ReadonlySet<string> = new Set([
  ...NAMING_WORDS,
  ...words(
    'channel realm bucket stream shard replica collection region zone cluster repository branch environment session',
  ),
])
