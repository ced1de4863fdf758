"""Training text for the character GPT: small tales from a grammar of our own.

The text is generated, so nothing has to be shipped or licensed. It is random enough that a model cannot
memorize it, and regular enough to be learned: spelling, quotes, a name that returns two sentences later with
the right pronoun, and a price that is the sum of its parts. `tales(seed, length)` depends on its arguments only.
"""

import random

ALPHABET = "\n !\"',-.:;?" + "".join(map(chr, range(ord("A"), ord("Z") + 1))) + "".join(
    map(chr, range(ord("a"), ord("z") + 1)))

WOMEN = (
    "Ada Beth Clara Dina Edith Flora Greta Hanna Ines Judith Kira Lena Mona Nora Olga Petra Rosa Vera Wilma"
).split()
MEN = (
    "Abel Boris Carl David Emil Frank Georg Hugo Ivan Jonas Kurt Louis Max Nils Otto Paul Quentin Udo Xaver Yuri Zeno"
).split()
TRADES = (
    "baker miller sailor tailor farmer weaver doctor judge queen shepherd painter clockmaker gardener ferryman "
    "bell-ringer"
).split()
ADJECTIVES = ("old young quiet clever lazy brave cold bright broken golden heavy narrow yellow purple strange small "
              "great empty hidden dusty gentle hungry foolish patient wooden silver").split()
ANIMALS = "horse dog cat fox raven goat donkey bear mouse owl wolf goose rabbit lynx quail".split()
PLACES = ("village harbour forest market castle mill river valley bridge garden church kitchen tower island "
          "square").split()
THINGS = ("lamp key letter coat basket clock boat ladder violin mirror book rope kettle window jar blanket axe map "
          "whistle quilt").split()
GOODS = "apples eggs candles loaves onions buttons nails oranges ribbons fish pears bricks jugs".split()
WEATHER = ("it was raining,the sun was shining,a cold wind blew,snow lay on the roofs,thunder rolled over the hills,"
           "fog hid the road,the night was clear").split(",")
TIMES = "In the morning,At noon,In the evening,Before dawn,One winter,Last summer,After the feast,On Sunday".split(",")
MOVES = "walked,ran,went,rode,hurried,wandered,returned,climbed,crept".split(",")
TAKES = "found,lost,sold,bought,carried,mended,hid,broke,wanted,forgot,examined".split(",")
FEELINGS = "happy sad angry afraid tired proud curious surprised jealous ashamed".split()
SAYINGS = ("nothing is lost forever,the door is never locked,every road leads home,a full purse makes a light step,"
           "who asks too much hears too little,the river does not wait,just be quick,"
           "zeal without sense is smoke").split(",")
NUMBERS = ("one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
           "seventeen eighteen").split()


def _article(noun_phrase):
    return ("an " if noun_phrase[0] in "aeiou" else "a ") + noun_phrase


class _Teller:
    """Writes tales; holds the random source so that each sentence is one short method."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, words):
        return self.random.choice(words)

    def chance(self, share):
        return self.random.random() < share

    def thing(self, words):
        noun = self.pick(words)
        return f"{self.pick(ADJECTIVES)} {noun}" if self.chance(0.5) else noun

    def person(self):
        """A name with its pronouns: the far-reaching agreement that a larger context pays for."""
        return (self.pick(WOMEN), "she", "her") if self.chance(0.5) else (self.pick(MEN), "he", "his")

    def opening(self, hero, other):
        name, pronoun, _ = hero
        return self.pick([
            f"{self.pick(TIMES)} {name} the {self.pick(TRADES)} {self.pick(MOVES)} to the {self.thing(PLACES)}.",
            f"There was once {_article(self.thing(TRADES))} called {name}, "
            f"and {pronoun} lived near the {self.thing(PLACES)}.",
            f"{name} and {other[0]} {self.pick(MOVES)} to the {self.thing(PLACES)} while {self.pick(WEATHER)}.",
        ])

    def event(self, hero, other):
        name, pronoun, possessive = hero
        who = self.pick([name, pronoun.capitalize()])
        return self.pick([
            f"{who} {self.pick(TAKES)} {_article(self.thing(THINGS))} and {self.pick(MOVES)} "
            f"to the {self.pick(PLACES)}.",
            f"{who} was {self.pick(FEELINGS)} because {other[0]} had {self.pick(['a', 'no'])} {self.pick(THINGS)}.",
            f"{who} gave {possessive} {self.pick(THINGS)} to {_article(self.thing(ANIMALS))}; "
            f"the {self.pick(ANIMALS)} was {self.pick(FEELINGS)}.",
            f"{self.pick(WEATHER).capitalize()}, and {pronoun} could not see the {self.thing(PLACES)}.",
        ])

    def speech(self, hero, other):
        name, pronoun, possessive = hero
        line = self.pick([
            f"Where is {possessive} {self.thing(THINGS)}?",
            f"I have seen {_article(self.thing(ANIMALS))} in the {self.pick(PLACES)}!",
            f"Don't touch the {self.thing(THINGS)}!",
            f"You know it well: {self.pick(SAYINGS)}.",
        ])
        return f"\"{line}\" {self.pick(['said', 'asked', 'cried', 'whispered', 'answered'])} {other[0]}."

    def trade(self, hero, other):
        first, second = self.random.randrange(9), self.random.randrange(9)
        return (f"{other[0]} sold {NUMBERS[first]} {self.pick(GOODS)} and {NUMBERS[second]} {self.pick(GOODS)}: "
                f"that is {NUMBERS[first + second + 1]}, said {hero[0]}.")

    def tale(self):
        hero = other = self.person()
        while other[0] == hero[0]:
            other = self.person()
        sentences = [self.opening(hero, other)]
        for _ in range(self.random.randrange(2, 6)):
            sentences.append(self.pick([self.event, self.event, self.speech, self.trade])(hero, other))
        return " ".join(sentences) + "\n"


def tales(seed, length):
    """At least `length` characters of tales."""
    teller, parts, total = _Teller(seed), [], 0
    while total < length:
        parts.append(teller.tale())
        total += len(parts[-1])
    return "".join(parts)
