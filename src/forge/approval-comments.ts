/** Decides whether a comment on a pull request approves the plan that the pull request shows, and says all reasons against it. */
import type { Clock } from '../core/clock.ts';
import { RejectedError } from '../core/errors.ts';
import { scopeSuffix } from '../core/scope.ts';
import type { ForgeName } from './ci-job.ts';
import { isSame, type Marker, readMarker, readOffer } from './comment.ts';
import type { ForgeAccess, ForgeAccount, Membership, PullComment } from './forge.ts';
import { openApprovals } from './open-forge.ts';
import { withRetries } from './requests.ts';
import { type AnnouncedComment, readCommand } from './webhooks.ts';

/**
 * Milliseconds after which a comment that nobody has answered is too old, so that a recorded delivery cannot bring it back,
 * and after which one does not count any more when its change is merged.
 */
const MAX_AGE = 24 * 3_600_000;

/** Maximum number of comments that look like plans and whose authors are looked up: the oldest ones. */
const MAX_OFFERS = 20;

/** Rules about who may approve, and which plan. */
export interface CommentRules extends Pick<Marker, 'organization' | 'scope'> {
  readonly permission: Exclude<Membership['permission'], 'none'>;
  /** Only these accounts; undefined: everybody with the permission. */
  readonly users: readonly string[] | undefined;
  /** Branch that the daemon follows. */
  readonly ref: string;
}

/** Effect of a comment. `ignored`: it is gone, or by a bot, or about the plan of another organization. */
export type CommentVerdict =
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly login: string; readonly reasons: readonly string[] }
  | {
      readonly kind: 'approved';
      readonly login: string;
      /** Whole checksum of what is approved. */
      readonly checksum: string;
      readonly isMerged: boolean;
      /** Address of the comment; null if the forge gives no link that can be shown. */
      readonly url: string | null;
    };

/** Reads comments at a forge, and answers them. */
export type ApprovalReader = NonNullable<ReturnType<typeof openApprovalReader>>;

/** Opens the comments of a repository; null if Octavo does not support approvals by comment at the forge. */
export function openApprovalReader(
  access: Omit<ForgeAccess, 'ref'> & { readonly type: ForgeName },
  rules: CommentRules,
  clock: Clock,
) {
  const forge = openApprovals(access);
  if (forge === null) {
    return null;
  }
  const membership = (account: ForgeAccount) =>
    withRetries(clock, () => forge.readMembership(account)).catch((error: unknown): Membership => {
      if (error instanceof RejectedError && error.status === 404) {
        return { permission: 'none', isBot: false, showsPlans: false };
      }
      throw error;
    });
  return {
    label: forge.label,
    /** Not safe to repeat: an answer that was lost may exist. */
    answer: (pull: number, body: string) => forge.answer(pull, body),
    /** Judges a comment by what the forge tells now. Throws the errors of the forge. `isNew`: it was not judged before. */
    async judge({ pull, comment, text }: AnnouncedComment, isNew: boolean): Promise<CommentVerdict> {
      const all = await withRetries(clock, () => forge.listComments(pull));
      const own = all.find(({ id }) => id === comment);
      const digits = readCommand(text);
      if (own?.author == null || digits === null) {
        return { kind: 'ignored' };
      }
      const { author } = own;
      const who = await membership(author);
      if (who.permission === 'none' && !who.isBot) {
        // Everybody can comment on a public repository: an outsider causes few requests.
        return { kind: 'refused', login: author.login, reasons: personReasons(author, who, rules) };
      }
      const offers = await offersIn(all, membership);
      const isOfRules = ({ marker }: Offer) =>
        marker.organization === rules.organization && marker.scope === rules.scope.toWellFormed();
      const shown = offers.filter(isOfRules);
      const isMeant = (offer: Offer) => digits === '' || isNamed(offer, digits);
      const isOfOther = !shown.some(isMeant) && offers.some((offer) => !isOfRules(offer) && isMeant(offer));
      if (who.isBot || isOfOther) {
        return { kind: 'ignored' };
      }
      const target = await withRetries(clock, () => forge.readPull(pull));
      const hasCommit = author.id === target.author || (await withRetries(clock, () => forge.hasCommit(pull, author)));
      const isEdited = own.createdAt !== own.updatedAt || !isSame(own.body, text);
      const isYoung = clock.now() - own.createdAt <= MAX_AGE;
      // Later, the same change may wait for another reason.
      const isOver = target.state === 'merged' && !(clock.now() - target.mergedAt <= MAX_AGE) && !isYoung;
      const isFollowed = rules.ref.replace(/^refs\/heads\//, '') === target.into;
      const reasons = [
        ...personReasons(author, who, rules),
        ...(hasCommit === null ? ['the forge does not tell who wrote all commits of this change'] : []),
        ...(hasCommit === true ? ['people who opened a change or wrote a commit of it cannot approve it'] : []),
        ...(isEdited ? ['the comment was edited; write a new one'] : []),
        ...(isNew && !isYoung ? ['the comment is more than a day old; write a new one'] : []),
        ...(!isNew && isOver ? ['more than a day has passed since the merge; write a new one'] : []),
        ...(target.state === 'closed' ? ['this was closed without being merged'] : []),
        ...(isFollowed ? [] : ['this does not go to the branch that Octavo follows']),
        ...planReasons(shown, own, target.head, digits, rules),
      ];
      const checksum = shown[0]?.checksums.find((each) => each.startsWith(digits));
      const { login } = author;
      return reasons.length > 0 || checksum === undefined
        ? { kind: 'refused', login, reasons }
        : {
            kind: 'approved',
            login,
            checksum: `sha256:${checksum}`,
            isMerged: target.state === 'merged',
            url: target.url === null ? null : `${target.url}${forge.anchor}${comment}`,
          };
    },
  };
}

function personReasons({ login }: ForgeAccount, { permission }: Membership, rules: CommentRules): readonly string[] {
  const levels = ['none', 'write', 'maintain', 'admin'];
  const isNamed = rules.users?.some((name) => name.toLowerCase() === login.toLowerCase()) ?? true;
  return [
    ...(levels.indexOf(permission) < levels.indexOf(rules.permission)
      ? [`approving needs the permission \`${rules.permission}\` in this repository`]
      : []),
    ...(isNamed ? [] : ['the configuration of Octavo does not name this account among those that approve']),
  ];
}

/** A comment of a job that shows a plan with something to approve, or without. */
interface Offer {
  readonly marker: Marker;
  /** Commit that was planned. */
  readonly commit: string;
  /** Checksums that can be approved, without their prefix; the first one is meant where no digits are given. */
  readonly checksums: readonly string[];
  readonly updatedAt: number;
}

/** Returns the plans that jobs show. Everybody can write a comment that looks like one. */
async function offersIn(
  comments: readonly PullComment[],
  membership: (account: ForgeAccount) => Promise<Membership>,
): Promise<readonly Offer[]> {
  const offers: Offer[] = [];
  const candidates = comments.filter(({ body }) => body.startsWith('<!-- octavo:plan ')).slice(0, MAX_OFFERS);
  for (const { author, body, updatedAt } of candidates) {
    const marker = readMarker(body);
    if (marker !== null && author !== null && (await membership(author)).showsPlans) {
      const { commit, checksums } = readOffer(body) ?? { commit: '', checksums: [] };
      offers.push({ marker, commit, checksums, updatedAt });
    }
  }
  return offers;
}

function isNamed({ checksums }: Offer, digits: string): boolean {
  return checksums.some((each) => each.startsWith(digits));
}

/** Returns what is wrong with the plan that the comment is about. */
function planReasons(
  shown: readonly Offer[],
  { createdAt }: PullComment,
  head: string,
  digits: string,
  { organization, scope }: CommentRules,
): readonly string[] {
  const [offer, other] = shown;
  const of = `${organization}${scopeSuffix(scope)}`;
  if (offer === undefined) {
    return [`no job shows a plan of ${of} here`];
  }
  if (other !== undefined) {
    return [`several comments show a plan of ${of}; delete all of them and let the job run again`];
  }
  if (offer.checksums.length === 0) {
    return ['nothing in the plan can be approved'];
  }
  return [
    ...(offer.commit === head
      ? []
      : ['the plan is not of the newest commit; wait until the job has shown the new one']),
    ...(offer.updatedAt < createdAt ? [] : ['the plan was shown again since; read it, and write the command again']),
    ...(digits === '' || isNamed(offer, digits)
      ? []
      : [
          `the plan does not have this checksum, but \`${offer.checksums.map((each) => each.slice(0, 8)).join('` or `')}\``,
        ]),
  ];
}
