"""The words that decide whether a text may be cut before its last sentence: one list per language, phrases apart by `|`.

They add to `segment_rules`: a cut needs more certainty than a segment. Words are compared without regard to case.
Without a language tag all lists apply.
"""

from __future__ import annotations

BOUNDARY_LISTS_VERSION = 1

UNSPACED_LANGUAGES = frozenset({"zh", "ja"})
"""Languages written without spaces: a word of theirs may be continued by a letter."""

SHORTENED: dict[str, str] = {
    "en": (
        "a.m|cit|adj|adm|admin|adv|anon|approx|apr|arch|asst|atty|aug|av|ba|bart|bldg|brig|bul|cap|cdr|cent|chap|"
        "cmdr|cmp|col|comdr|conn|cont|corp|cpl|cu|deg|dept|det|dist|div|doz|ed|eds|edn|encl|eng|ens|equiv|esq|"
        "est|etc|ext|feb|fig|figs|fn|fr|freq|fri|ft|fwd|gal|gen|gov|govt|hon|hosp|hr|hrs|hwy|ibid|illus|inc|insp|"
        "int|intl|jan|jul|jun|lat|lb|lbs|lieut|ltd|maj|max|md|messrs|mfg|mgr|mi|min|mins|misc|mng|mon|mph|mt|mtn|"
        "mts|nat|natl|nos|nov|oct|op|orig|oz|pct|pfc|ph|ph.d|phd|pl|plc|pp|pres|prin|pt|pts|pub|publ|pvt|qty|rd|"
        "ref|refs|rep|reps|repr|ret|rte|sci|sec|secs|sen|sens|sep|sept|ser|sgt|sp|sq|st|sta|std|subj|supp|suppl|"
        "supt|surg|thu|thur|thurs|treas|tue|tues|univ|vol|vols|wk|wt|yd|yr|yrs"
    ),
    "pt": (
        "a.c|abr|adj|adm|adv|ago|al|alm|ap|apart|apto|art|arts|assoc|aten|atte|aum|bel|bibl|bl|bras|cad|cap|caps|"
        "card|cel|cent|cfr|ch|cit|cód|cod|col|comp|cond|cons|coord|cx|d.c|depto|dep|des|desc|dez|dir|doc|dom|"
        "edit|ee.uu|emb|eng|engª|esc|esp|esq|est|exp|ext|fac|fev|fig|figs|fl|fls|fr|g.f|gal|gen|gov|h.c|hab|ib|"
        "ibid|il|inc|inf|int|jan|jd|jr|jul|jun|lab|lic|liv|loc|lt|maj|máx|mag|mar|mat|med|mem|méd|mín|min|mons|"
        "mun|nac|nov|núm|num|obr|op|org|out|pág|págs|pal|par|pç|pça|pde|pe|pref|pres|proc|prov|q.e.d|qtd|qtde|"
        "rod|rem|rep|rev|s.m.j|sec|séc|sécs|seg|sem|sen|set|sind|soc|sto|sta|supl|tab|tec|téc|ten|tít|trad|trav|"
        "tv|univ|us|v.sa|v.exa|vet|vid|vl|vol|vols|v.s"
    ),
    "es": (
        "a.c|abr|adj|admón|afmo|ago|ap|apdo|art|arts|arq|atte|b.o.e|bco|bol|c.c|cap|caps|cía|cent|cf|cfr|cód|cod|col|"
        "comp|coord|cp|d.c|d.f|dcha|depto|dep|desc|dic|dir|disp|doc|dom|dpto|dtor|dupl|ed|edit|ee|uu|ee.uu|ene|esc|esp|etc|excmo|"
        "excma|exp|ext|fasc|feb|fdo|fig|figs|fr|gob|gral|hnos|ib|ibid|íd|ilmo|imp|ina|inc|ind|inst|int|izq|izda|jul|jun|"
        "kg|lib|loc|ltda|mar|máx|mín|may|mons|ms|n.b|nac|nov|núm|núms|num|ob|oct|op|pág|págs|párr|pat|pdo|pje|pl|pta|ptas|"
        "pte|pza|plza|pref|pres|prol|prov|ppal|r.d|rep|rev|rte|s.l|sdad|sec|secc|sep|set|sept|sig|sigs|sra|sres|sría|ss|"
        "sta|sto|supl|tfno|tlf|tít|tm|trad|univ|ud|uds|v.gr|vid|vol|vols|vto"
    ),
    "de": (
        "abb|abbs|abf|abh|abk|abs|abschn|abt|adr|alt|anh|anm|anmerk|ank|anl|apr|art|aufl|aug|ausg|bd|bde|bearb|begr|beil|bem|"
        "ber|bes|best|betr|bez|bf|bhf|bl|br|bsp|bspw|bzgl|bzw|chr|cie|co|d.ä|d.j|dez|d.h|di|dir|do|doz|ds|dt|dtzd|eig|ehem|eigtl|"
        "einschl|em|entspr|erg|erl|erw|et|etw|ev|evtl|exkl|fa|fam|fb|feb|ff|fn|forts|fr|frl|geb|gebr|gegr|gem|gen|ges|gesch|"
        "gest|gez|ggf|ggfs|ggü|grds|gzj|hbf|hd|hg|hl|hptst|hrsg|i.a|i.v|inh|inkl|insb|insbes|int|ital|jan|jg|jh|jhd|jhs|jul|"
        "jun|kap|kath|kfm|kl|komm|lfd|lt|luth|m.e|m.w|math|max|mi|min|mind|mio|mo|mr|mrd|mtl|mschr|mwst|n.chr|nachf|nachm|"
        "neubearb|nördl|nov|nr|nrn|o.g|od|okt|op|orig|österr|östl|p.a|pf|pfd|pkt|pl|pos|präs|priv|prot|qm|rd|red|reg|"
        "resp|rgbl|rk|röm|s.a|s.o|s.u|sa|sep|sept|sr|sog|sogen|sp|spez|st|std|stdn|stellv|südl|tab|tägl|techn|tsd|typ|u.a|u.ä|"
        "u.u|übers|überarb|umg|ung|univ|unveröff|urspr|usf|v.chr|verb|verf|verh|verl|versch|vert|verw|vgl|vol|vorb|vorl|vorm|"
        "vors|westl|wg|wiss|wkst|württ|z.b|z.hd|z.t|zit|zool|zt|ztr|zus|zw|zzgl|zzt"
    ),
    "fr": (
        "a.c.n|adj|adm|all|ann|anc|apr|approx|arch|arr|art|arts|asc|ass|assoc|aug|av|avr|bibl|bull|c|cap|c.-à-d|cent|cf|"
        "chap|chim|cie|circ|cl|coll|comm|cond|conf|coop|corp|corresp|dép|dépt|déc|dest|dir|doc|éd|éds|édit|élec|enr|env|esc|"
        "etc|étym|ex|exempl|ext|fasc|fém|févr|fig|figs|fl|gal|gén|gouv|hab|ibid|id|ill|imp|impr|inc|incl|ind|inf|ing|inst|"
        "int|intro|inv|j.-c|jan|janv|jr|juill|juil|lat|lib|lieut|loc|ltée|masc|max|mgr|min|mme|mmes|mlle|mlles|mr|ms|n.b|nat|"
        "nb|no|nov|obs|oct|op|orig|ouvr|p.-s|p.ex|par|paragr|pag|pl|pop|pp|prem|préf|prés|princ|prod|prof|prov|quest|réf|"
        "réd|rép|rev|sc|sect|sept|ser|sér|sing|soc|spéc|sq|sqq|st|stat|subst|suiv|sup|suppl|s.v|symb|tab|techn|tit|trad|"
        "univ|v|var|vb|vol|vols|voy|vx"
    ),
    "it": (
        "a.c|abbr|agg|ago|all|amm|ann|app|apr|arch|art|artt|ass|aut|az|bibl|c.a|cap|capp|cav|cent|c.p|circ|cit|cod|col|"
        "comm|comp|cons|cte|d.c|d.l|d.lgs|dic|dip|dir|disp|doc|dom|dott|dr|ebr|ecc|econ|ed|edd|egr|es|etc|fam|feb|fig|figg|"
        "gen|geom|giu|giur|gius|gov|id|idraul|illmo|ind|ing|ist|lett|lib|loc|lug|mag|mar|mat|max|med|mer|meteor|min|mons|mov|"
        "n.b|naz|nov|num|obs|on|op|ott|pag|pagg|par|pref|preg|prof|prov|psicol|p.zza|p.za|rag|rev|rif|s.p.a|s.r.l|sab|sc|sec|"
        "seg|segg|sett|set|sez|sig|sigg|sig.na|sig.ra|spett|sost|st|stat|str|suppl|tab|tel|trad|univ|v.cte|v.le|ven|vol|voll"
    ),
    "nl": (
        "a.h.w|aanm|aanw|afb|afd|afk|alg|apr|arr|art|aug|ber|betr|bijv|bijz|blz|bnw|bur|burg|bv|bw|ca|cie|dd|d.d|dec|dep|dir|dl|"
        "drs|e.a|e.d|ed|enz|etc|excl|fa|fam|febr|fig|geb|gebr|gem|get|gr|hfdst|hr|i.h.b|i.p.v|i.t.t|incl|ing|ir|jan|jhr|jl|jr|"
        "juli|kapt|lett|m.a.w|m.b.v|m.i|mej|mevr|mln|mr|mrd|mw|n.a.v|nl|no|nov|nr|nrs|o.a|o.b.v|o.i.d|okt|op|opm|par|pag|plm|"
        "plv|pnt|red|resp|secr|sept|st|t.b.v|t.g.v|t.m|t.n.v|t.o.v|tel|temp|toel|tvm|uitg|v.a|v.chr|verg|vgl|vnl|vnw|vb|"
        "vol|voorz|wed|wo|zgn|zn|z.s.m"
    ),
    "pl": (
        "adj|adw|al|art|bałt|bhp|br|bryg|bud|cd|cz|cyt|dn|doc|dol|dot|dr|ds|dyr|dz|ed|gen|godz|gr|hr|im|in|inst|inż|itd|itp|"
        "jw|jr|kard|kl|kpt|kol|ks|lek|lic|lok|lp|łac|mies|mgr|min|mjr|mld|mln|nb|nt|nr|ob|oprac|os|oz|par|p.o|pl|płk|pkt|plut|"
        "pn|pod|poj|pol|por|pow|poz|pp|prok|pt|r|red|reż|rozdz|rtm|ryc|rys|sierż|soc|sp|str|sz|szt|śp|św|tab|tj|tłum|tow|tyg|"
        "tys|tzn|tzw|ub|ul|ur|ust|ww|woj|wyd|wł|wym|zob|zw|zł|żart"
    ),
    "ru": (
        "абз|авг|авт|адм|акад|алт|англ|апр|арх|ауд|б|барр|бул|бульв|букв|в|вв|вкл|вост|вып|ген|гр|гос|г-н|г-жа|гл|гор|губ|д|дек|"
        "деп|дер|дир|дисс|диагр|доб|доп|док|долл|доц|др|ж|жен|журн|зав|зам|зап|засл|и.о|изв|илл|инж|ин-т|иностр|ин|ист|"
        "кан|канд|каф|кг|кн|кол|комн|конф|корп|кр|куб|л|лат|лейт|лит|м|макс|мат|маш|мед|мес|мин|мл|мн|муж|мкр|напр|нар|нас|нац|"
        "нач|нем|неск|ноя|нояб|о|оз|ок|окр|окт|оп|орг|осн|отв|отд|отеч|пас|пгт|пер|печ|пл|пом|пос|посл|пр|прил|прим|"
        "проезд|просп|проч|псевд|пт|разд|разг|рег|ред|реж|респ|рис|род|рос|росс|рт|сб|св|сек|сев|сен|сент|след|сл|см|собр|соб|"
        "совм|совр|сокр|соч|спец|ср|ст|стих|стр|ст-ца|сут|тел|тех|тов|тт|тыс|уд|указ|ур|устар|утв|уч|учеб|ф|факс|фев|февр|фиг|физ|"
        "филол|фин|фл|франц|х|хим|ц|центр|ч|чел|четв|чл|шк|шт|экв|экз|экон|эл|юж|юр|яз|янв"
    ),
    "hi": (
        "डॉ|डा|डाॅ|श्री|श्रीमती|सुश्री|प्रो|पं|स्व|कु|कि|मी|किमी|सेमी|ग्रा|रु|रू|सं|पृ|ई|वि|ले|कै|कर्नल|मो|मौ|न|क्र|इं|इंजी|एड|अ|ज|दि|ता|सा|कं|लि|प्रा|"
        "ई.पू|बी|सी|एम|ए|एस|एन|के|जे|पी|आर|टी|वी|डी|जी|एच|एल|यू"
    ),
    "ar": "أ|إ|د|م|أ.د|ص|ص.ب|ق.م|ب.م|ج|ه|هـ|ت|تحـ|ط|ع|ف|ك|ن|ر|س|ش|ح|خ|الخ|إلخ|ج.م|ش.م|ش.م.م|ل.ل|دج|كم|كغ|سم|مم|مج|تح|د.ك|ر.س",
}
"""More words, without their last full stop, after which a full stop may end no sentence."""

UNITS = "ms|kb|mb|gb|tb|px|hz|khz|mhz|ghz|kbps|mbps|fps|rpm"
"""Units that are written without a full stop: after a number they are no abbreviations."""

NAMES_WITH_MARKS = "yahoo!|jeopardy!|yum!|mamma mia!|oklahoma!|moulin rouge!|モーニング娘。"
"""Names that end in a mark."""

NUMBERED: dict[str, str] = {
    "en": "step|section|article|chapter|figure|table|rule|note|option|part|item|question|case|phase|level|version|appendix|"
    "paragraph|clause|no|number|page|line|day|week|round|stage|task|point|requirement|example|definition|theorem|lemma|type",
    "pt": "passo|seção|secção|artigo|capítulo|figura|tabela|regra|nota|opção|parte|item|questão|caso|fase|nível|versão|anexo|"
    "parágrafo|cláusula|número|página|linha|dia|semana|etapa|tarefa|ponto|requisito|exemplo|inciso|quadro",
    "es": "paso|sección|artículo|capítulo|figura|tabla|regla|nota|opción|parte|punto|pregunta|caso|fase|nivel|versión|anexo|"
    "párrafo|cláusula|número|página|línea|día|semana|etapa|tarea|requisito|ejemplo|cuadro",
    "de": "schritt|abschnitt|artikel|kapitel|abbildung|tabelle|regel|hinweis|option|teil|punkt|frage|fall|phase|stufe|version|"
    "anhang|absatz|klausel|nummer|seite|zeile|tag|woche|runde|aufgabe|beispiel|anforderung",
    "fr": "étape|section|article|chapitre|figure|tableau|règle|note|option|partie|point|question|cas|phase|niveau|version|annexe|"
    "paragraphe|clause|numéro|page|ligne|jour|semaine|tâche|exemple|exigence",
    "ru": "шаг|раздел|статья|глава|рисунок|таблица|правило|примечание|вариант|часть|пункт|вопрос|случай|этап|уровень|версия|"
    "приложение|параграф|номер|страница|строка|день|неделя|задача|пример|требование",
    "hi": "चरण|धारा|अनुच्छेद|अध्याय|चित्र|तालिका|नियम|भाग|प्रश्न|संस्करण|पृष्ठ",
    "ar": "الخطوة|القسم|المادة|الفصل|الشكل|الجدول|القاعدة|الجزء|السؤال|المرحلة|الإصدار|الصفحة|البند",
}
"""Words before a number that names a piece of text: the full stop after it may belong to the name."""

LEANING: dict[str, str] = {
    "en": (
        "this|that|these|those|it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|such|same|the same|"
        "the latter|the former|the above|the following|both|neither|either|another|others|the other|the others|"
        "the exception|however|but|yet|and|or|so|unless|except|excepting|excluding|exception|exceptions|"
        "exceptionally|one exception|an exception|the only exception|only exception|therefore|thus|hence|"
        "otherwise|else|then|instead|still|also|although|though|even|even so|even then|whereas|while|because|"
        "nevertheless|nonetheless|notwithstanding|moreover|furthermore|besides|consequently|accordingly|"
        "conversely|similarly|likewise|meanwhile|afterwards|afterward|thereafter|thereby|therein|later|rather|"
        "alternatively|additionally|subsequently|finally|lastly|as a result|as such|as above|as before|as well|"
        "in that case|in this case|in these cases|in those cases|in such|in addition|in contrast|in turn|"
        "in particular|in other words|in all other|in any other|in both|in either|in neither|on the other hand|"
        "on the contrary|on top of|for this|for that|for these|for those|for example|for instance|for all other|"
        "because of this|because of that|despite this|despite that|by contrast|by then|apart from|other than|"
        "aside from|after that|after this|before that|before this|until then|since then|at that|at this|"
        "with that|with this|from then|if so|if not|not so|not anymore|no longer|all other|all others|"
        "everything else|everyone else|anything else|here|e.g|i.e|that is|namely|specifically|again|secondly|"
        "plus|too|yes|nor|only then|only this|only these|only those|since this"
    ),
    "pt": (
        "isso|isto|aquilo|este|esta|estes|estas|esse|essa|esses|essas|aquele|aquela|aqueles|aquelas|ele|ela|eles|"
        "elas|dele|dela|deles|delas|nele|nela|neles|nelas|lhe|lhes|seu|sua|seus|suas|o mesmo|a mesma|tal|tais|"
        "ambos|ambas|outro|outra|outros|outras|os demais|as demais|os outros|as outras|o último|a última|porém|"
        "mas|contudo|todavia|entretanto|no entanto|exceto|excetuam-se|excetua-se|exceção|exceções|a exceção|"
        "a única exceção|uma exceção|salvo|senão|a menos que|a não ser|portanto|logo|assim|então|pois|e|ou|nem|"
        "caso contrário|do contrário|em vez disso|em vez|ainda|também|além|além disso|aliás|apesar|embora|porque|"
        "já que|uma vez que|por isso|por isto|por conseguinte|consequentemente|por outro lado|em contrapartida|"
        "ao contrário|nesse|nessa|nesses|nessas|neste|nesta|nestes|nestas|desse|dessa|desses|dessas|deste|desta|"
        "destes|destas|naquele|naquela|depois|depois disso|antes disso|até lá|desde então|por exemplo|ou seja|"
        "isto é|aqui|ali|lá|onde|cujo|cuja|fora isso|afora isso|à parte disso|na verdade|somente então|"
        "finalmente|em seguida|a seguir|do mesmo modo|da mesma forma|igualmente|nos demais|nas demais|em ambos|"
        "sim,"
    ),
    "es": (
        "esto|eso|aquello|este|esta|estos|estas|ese|esa|esos|esas|aquel|aquella|aquellos|aquellas|él|ella|ellos|"
        "ellas|ello|su|sus|suyo|suya|le|les|lo|lo mismo|el mismo|la misma|tal|tales|ambos|ambas|otro|otra|otros|"
        "otras|los demás|las demás|el último|la última|pero|sin embargo|no obstante|empero|mas|excepto|excepción|"
        "excepciones|la excepción|una excepción|la única excepción|salvo|a menos que|a no ser|por tanto|"
        "por lo tanto|luego|así|así que|entonces|pues|y|ni|de lo contrario|en caso contrario|si no|"
        "en cambio|en vez de|en su lugar|todavía|también|además|asimismo|aunque|a pesar|porque|ya que|puesto que|"
        "por eso|por ello|por esto|en consecuencia|por consiguiente|por otro lado|por otra parte|al contrario|"
        "en ese|en esa|en esos|en esas|en este|en esta|en estos|en estas|en tal|de ese|de esa|de este|de esta|"
        "después|después de eso|antes de eso|hasta entonces|desde entonces|por ejemplo|es decir|o sea|aquí|allí|"
        "ahí|donde|cuyo|cuya|aparte de eso|en realidad|sólo entonces|solo entonces|finalmente|a continuación|"
        "igualmente|del mismo modo|en los demás|en las demás|en ambos|sí,"
    ),
    "de": (
        "dies|diese|dieser|dieses|diesem|diesen|jene|jener|jenes|jenem|jenen|es|er|sie|ihm|ihn|ihr|ihre|ihrer|"
        "ihrem|ihren|ihnen|sein|seine|seiner|seinem|seinen|solche|solcher|solches|dasselbe|derselbe|dieselbe|"
        "beide|beides|andere|anderer|anderes|die anderen|der andere|die übrigen|alle anderen|letztere|letzterer|"
        "letzteres|erstere|ersterer|ersteres|aber|jedoch|doch|allerdings|dennoch|trotzdem|gleichwohl|indes|außer|"
        "ausgenommen|ausnahme|ausnahmen|die ausnahme|eine ausnahme|einzige ausnahme|die einzige ausnahme|sofern|"
        "es sei denn|sonst|ansonsten|andernfalls|anderenfalls|daher|deshalb|deswegen|darum|folglich|somit|also|"
        "demnach|infolgedessen|und|oder|sondern|denn|weder|stattdessen|statt|noch|auch|außerdem|zudem|ferner|"
        "weiterhin|obwohl|obgleich|weil|da|dann|danach|davor|dabei|dadurch|dafür|dagegen|damit|daran|darauf|"
        "daraus|darin|darüber|darunter|davon|dazu|dazwischen|dort|hier|hierbei|hierfür|hiervon|hierzu|hingegen|"
        "in diesem|in dieser|in diesen|in jenem|in solchen|für diese|für diesen|für dieses|bei diesen|bei dieser|"
        "bei diesem|nach diesem|vor diesem|bis dahin|seitdem|seither|zum beispiel|das heißt|nämlich|ebenso|"
        "ebenfalls|gleichfalls|umgekehrt|vielmehr|zwar|schließlich|zuletzt|anschließend|ja|nein|welche|welcher|"
        "welches|dessen|deren|wo|wobei|das ist|das gilt|das war|das bedeutet|das betrifft|das wird|das hat|"
        "nur dann"
    ),
    "fr": (
        "ce|c'|c’|ceci|cela|ça|cet|cette|ces|celui|celle|ceux|celles|il|elle|ils|elles|lui|leur|leurs|son|sa|ses|"
        "le même|la même|les mêmes|tel|telle|tels|telles|tous deux|les deux|un autre|une autre|d'autres|d’autres|"
        "les autres|l'autre|l’autre|ce dernier|cette dernière|le premier|mais|cependant|toutefois|pourtant|"
        "néanmoins|or|sauf|excepté|hormis|exception|exceptions|l'exception|l’exception|une exception|"
        "seule exception|à moins|à l'exception|à l’exception|donc|ainsi|alors|par conséquent|en conséquence|"
        "c'est pourquoi|c’est pourquoi|et|ou|ni|car|sinon|autrement|dans le cas contraire|au contraire|"
        "en revanche|par contre|plutôt|à la place|encore|aussi|également|de plus|en outre|par ailleurs|"
        "d'ailleurs|d’ailleurs|bien que|quoique|malgré|parce que|puisque|de ce fait|pour cela|pour cette raison|"
        "dans ce|dans cet|dans cette|dans ces|de ce|de cette|de ces|à ce|à cette|ensuite|puis|après cela|"
        "avant cela|jusque-là|jusque là|depuis|par exemple|c'est-à-dire|c’est-à-dire|ici|là|où|dont|en effet|"
        "en fait|enfin|finalement|de même|oui|non|y"
    ),
    "it": (
        "questo|questa|questi|queste|quello|quella|quelli|quelle|quel|quei|ciò|esso|essa|essi|esse|lui|lei|loro|"
        "egli|ella|suo|sua|suoi|sue|lo stesso|la stessa|tale|tali|entrambi|entrambe|altro|altra|altri|altre|"
        "gli altri|le altre|ma|però|tuttavia|eppure|eccetto|tranne|salvo|eccezione|eccezioni|un'eccezione|"
        "l'eccezione|a meno che|quindi|dunque|perciò|pertanto|così|allora|ed|oppure|né|altrimenti|invece|"
        "ancora|anche|inoltre|sebbene|benché|perché|poiché|in questo|in tal|in quel|per questo|dopo|poi|infatti|"
        "infine|ad esempio|cioè|qui|lì|dove|cui|sì|no"
    ),
    "nl": (
        "dit|dat|deze|hij|zij|ze|hun|hen|hem|haar|zijn|dezelfde|hetzelfde|zulke|beide|andere|de andere|"
        "de anderen|maar|echter|toch|niettemin|behalve|uitgezonderd|uitzondering|uitzonderingen|tenzij|dus|"
        "daarom|daardoor|derhalve|en|of|noch|want|anders|in plaats daarvan|nog|ook|bovendien|verder|hoewel|omdat|"
        "dan|daarna|daarvoor|daarbij|daarmee|daar|hier|hierdoor|in dat geval|in dit|sindsdien|bijvoorbeeld|"
        "namelijk|integendeel|ja|nee"
    ),
    "pl": (
        "to|ten|ta|te|ci|tego|tej|tych|tym|temu|tamten|tamta|on|ona|ono|oni|one|jego|jej|ich|taki|taka|takie|oba|"
        "obie|inny|inna|inne|ale|jednak|lecz|chyba że|z wyjątkiem|oprócz|poza|wyjątek|wyjątkiem|więc|dlatego|"
        "zatem|lub|albo|ani|bo|inaczej|w przeciwnym razie|zamiast|też|także|ponadto|chociaż|ponieważ|wtedy|"
        "potem|w tym|w takim|natomiast|tutaj|tam|tak|nie"
    ),
    "ru": (
        "это|этот|эта|эти|этого|этой|этих|этому|этим|эту|тот|та|те|то|того|той|тех|тому|тем|он|она|оно|они|его|"
        "её|ее|их|ему|ей|им|него|неё|нее|них|такой|такая|такое|такие|оба|обе|другой|другая|другое|другие|"
        "остальные|последний|последняя|последнее|однако|но|кроме|кроме того|кроме этого|за исключением|"
        "исключение|исключения|исключением|исключая|если только|разве что|поэтому|следовательно|таким образом|"
        "значит|итак|так|тогда|а|и|или|либо|ни|да|зато|иначе|в противном случае|вместо|вместо этого|ещё|еще|"
        "также|тоже|более того|помимо|хотя|потому|потому что|поскольку|так как|ибо|в этом|в таком|в том|в этих|"
        "в таких|для этого|для этих|после этого|до этого|при этом|с тех пор|до тех пор|затем|потом|например|"
        "то есть|здесь|там|где|который|которая|которое|которые|тем не менее|напротив|наоборот|наконец|впрочем|"
        "притом|причём|причем|нет|только тогда|лишь тогда"
    ),
    "zh": (
        "这|那|它|他|她|其|此|该|该等|本条|上述|前述|前者|后者|两者|二者|以上|但|可是|不过|然而|只是|因此|因而|所以|于是|从而|除非|除此|除了|除|例外|唯一|否则|不然|要不|反之|相反|"
        "而|并且|且|或者|或|以及|也|另外|此外|再者|同时|同样|同理|虽然|尽管|即使|因为|由于|既然|然后|接着|随后|之后|之前|届时|到时|例如|比如|也就是|换言之|总之|其中|其他|其余|别的|"
        "只有这|至于|对此|为此|在此|如此|这样|那么|却|則|则|這|該|後者|兩者|於是|從而|雖然|儘管|是的|不是|还有|还是|还要|还需|还应|并非|并不|并应|并须|并需|最后，|故此|故而|即：|即便"
    ),
    "ja": (
        "これ|それ|あれ|この|その|あの|こちら|そちら|ここ|そこ|あそこ|こう|そう|彼|当該|前者|後者|両者|両方|上記|前述|しかし|ただし|但し|ただ|だが|ですが|けれど|けど|でも|ところが|"
        "とはいえ|それでも|もっとも|例外|除いて|を除|したがって|従って|よって|ゆえに|故に|だから|ですから|なので|このため|そのため|すると|そこで|それで|では|じゃあ|さもないと|さもなければ|"
        "そうでなければ|そうしないと|または|あるいは|もしくは|および|また|かつ|そして|それから|さらに|しかも|なお|一方|反対に|逆に|むしろ|つまり|すなわち|要するに|たとえば|例えば|なぜなら|"
        "というのは|次に|最後に|他の|他は|その他|ほかの|以上|同様|はい|いいえ|だけど|が、|同じく|同社|同項"
    ),
    "hi": (
        "यह|ये|वह|वे|इस|इसे|इसका|इसकी|इसके|इसमें|इससे|इसलिए|इसीलिए|इन|इनका|इनकी|इनके|इन्हें|उस|उसे|उसका|उसकी|"
        "उसके|उसमें|उससे|उन|उनका|उनकी|उनके|उन्हें|ऐसा|ऐसी|ऐसे|वैसा|वही|यही|दोनों|दूसरा|दूसरी|दूसरे|अन्य|बाकी|"
        "लेकिन|परन्तु|परंतु|किन्तु|किंतु|मगर|पर|हालाँकि|हालांकि|तथापि|फिर|फिर भी|सिवाय|के अलावा|अपवाद|जब तक|"
        "बशर्ते|अतः|अत|तो|तब|और|या|अथवा|एवं|तथा|न|ना|अन्यथा|वरना|नहीं तो|बल्कि|भी|साथ ही|क्योंकि|चूँकि|चूंकि|"
        "उसके बाद|इसके बाद|इसके अलावा|इसके बजाय|उदाहरण|यानी|अर्थात|अर्थात्|यहाँ|यहां|वहाँ|वहां|जहाँ|जिसका|जिसकी|"
        "जिसके|जो|हाँ|नहीं"
    ),
    "ar": (
        "هذا|هذه|هؤلاء|ذلك|تلك|أولئك|هو|هي|هم|هن|هما|له|لها|لهم|به|بها|بهم|فيه|فيها|فيهم|منه|منها|منهم|عنه|عنها|"
        "عليه|عليها|عليهم|إليه|إليها|كلاهما|كلتاهما|كلا|نفس|نفسه|نفسها|الآخر|الأخرى|الآخرون|الباقي|البقية|الأخير|"
        "الأخيرة|لكن|لكنه|لكنها|ولكن|ولكنه|ولكنها|إلا|إلا أن|باستثناء|ما عدا|عدا|سوى|الاستثناء|استثناء|ما لم|"
        "لذلك|لذا|ولذلك|ولذا|وبالتالي|بالتالي|فبالتالي|إذن|ثم|و|أو|أم|ولا|وإلا|خلاف ذلك|بخلاف ذلك|غير أن|بل|"
        "بدلا من ذلك|بدلاً من ذلك|أيضا|أيضًا|كذلك|وكذلك|كما|بالإضافة|فضلا|رغم|على الرغم|مع ذلك|ومع ذلك|لأن|لأنه|"
        "لأنها|حيث|حينها|عندها|بعد ذلك|وبعد ذلك|قبل ذلك|حتى ذلك|منذ ذلك|في هذه|في هذا|في تلك|في ذلك|في المقابل|"
        "على العكس|مثلا|مثلاً|مثال|يعني|هنا|هناك|التي|الذي|الذين|نعم|فإن|فإذا|وهذا|وهذه|وذلك|وتلك|وهو|وهي|وهم|"
        "فهو|فهي|وله|ولها|وفيه|وفيها|ومنه|ومنها|ومن ثم|أما|وأما"
    ),
}
"""What opens a sentence that leans on the one before it: pronouns and connectives."""

DANGLING: dict[str, str] = {
    "en": "but|and|or|nor|unless|except|except for|if|because|although|whereas|provided|provided that|as long as|than|the|a|an|"
    "of|and/or|with the exception of|excluding|including|such as|for example|e.g|i.e|in case|only if|even if|so that",
    "pt": "mas|e|ou|nem|porém|exceto|salvo|se|porque|embora|a menos que|a não ser|desde que|do|da|dos|das|de|o|a|os|as|um|uma|"
    "que|com exceção de|incluindo|como|por exemplo|caso|para|com|em|no|na",
    "es": "pero|y|e|o|u|ni|excepto|salvo|si|porque|aunque|a menos que|siempre que|del|de|el|la|los|las|un|una|que|"
    "con excepción de|incluyendo|por ejemplo|para|con|en|sino",
    "de": "aber|und|oder|sondern|außer|ausgenommen|wenn|falls|weil|obwohl|sofern|sowie|beziehungsweise|der|die|das|ein|eine|"
    "dass|es sei denn|zum beispiel|mit ausnahme von|einschließlich",
    "fr": "mais|et|ou|ni|sauf|excepté|hormis|si|parce que|bien que|à moins que|car|du|de|le|la|les|un|une|que|à l'exception de|"
    "à l’exception de|y compris|par exemple|pour|avec|donc|des",
    "it": "ma|e|ed|o|né|eccetto|tranne|salvo|se|perché|sebbene|a meno che|del|di|il|la|lo|gli|le|un|una|che|con|per",
    "nl": "maar|en|of|noch|behalve|tenzij|als|omdat|hoewel|de|het|een|dat|met|van",
    "pl": "ale|i|lub|albo|ani|oprócz|jeśli|ponieważ|chociaż|chyba że|z wyjątkiem|że|w|z|na",
    "ru": "но|и|или|либо|ни|а|кроме|если|потому что|хотя|если только|за исключением|что|чтобы|в|на|с|для|включая|например|"
    "однако|то есть",
    "zh": "但|但是|可是|不过|然而|和|与|及|以及|或|或者|并|并且|而|而且|如果|若|因为|由于|虽然|除非|除了|除|例如|比如|包括|所以|因此|的话",
    "ja": "しかし|ただし|但し|または|あるいは|および|かつ|もし|なぜなら|ですが|ますが|だが|ましたが|けれど|けれども|けど|例えば|たとえば|"
    "を除いて|以外は|ので|から|ため|そして",
    "hi": "और|या|लेकिन|परन्तु|परंतु|किन्तु|किंतु|मगर|अगर|यदि|कि|क्योंकि|सिवाय|के अलावा|जब तक|बशर्ते|तथा|एवं|जैसे",
    "ar": "و|أو|لكن|ولكن|إلا|إلا إذا|إذا|لأن|ما لم|باستثناء|ما عدا|بشرط أن|أن|من|في|على|إلى|مثل|حيث|ثم",
}
"""What ends no sentence, whatever mark stands behind it."""

BOUNDARY_LISTS = (
    BOUNDARY_LISTS_VERSION, sorted(UNSPACED_LANGUAGES), SHORTENED, UNITS, NAMES_WITH_MARKS, NUMBERED, LEANING, DANGLING,
)  # fmt: skip
"""All of them, as they stand in the fingerprint of a run."""
