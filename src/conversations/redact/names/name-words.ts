/** Words that are not names, and words that are also names. Data for the search for names. */

/** Parts of names and words for roles, which identify no person on their own. */
export const NEVER = new Set(
  (
    'van von den der des dem del della dos das les the and bin bint ben ibn abu zur zum mrs miss herr frau madame monsieur prof ' +
    'doctor sir jun sen iii phd support team help desk helpdesk service services customer customers client user users admin ' +
    'administrator sales info office docs documentation billing account accounts agent system bot noreply reply mail email ' +
    'postmaster webmaster contact success care operations dev developer developers engineering security test demo guest ' +
    'anonymous unknown nobody company inc ltd llc gmbh corp group technical product marketing finance legal hr'
  ).split(' '),
);
/** Names that are also words: they match only if they are capitalized and placed like a name. */
export const WORDS = new Set(
  (
    'meer mark will bill may june april august grace hope faith joy rose lily daisy iris ivy art frank jack rob bob pat sue drew ' +
    'rich dick don ray guy gene max miles chase grant chance hunter mason carter cooper parker taylor tyler page baker smith ' +
    'cook fisher king queen bishop knight law young brown black white green gray grey rusty sandy dawn eve summer autumn ' +
    'winter angel christian victor sky skye star ruby jade amber pearl crystal cherry olive ginger pepper penny dale glen cliff ' +
    'heath forest woods wood stone rock brook lane street hill field fields banks ford bush park long short little best good ' +
    'swift sharp strong power love case price rate cash bond wells major minor dean earl duke marshall porter potter mars nick ' +
    'trip skip chip tab tag rev van lee see sun day week moon west east north south holiday weekend key keys lock code data ' +
    'image link list note port root script set table text type view test ash bay buck bud chuck curt dash dot fox gale gay gus ' +
    'harry herb jean jerry jewel jimmy job josh kit lance levy mercy merit misty norm opal pierce reed robin sage sally ' +
    'shell stew trace wade ward warren wolf worth zip bitte danke klein gross lange kurz weiss schwarz braun'
  ).split(' '),
);
